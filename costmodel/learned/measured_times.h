// MeasuredTimes: how long ops were measured to take by themselves, on each device.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/learned/sample.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

class MeasuredTimes {
 public:
  // The largest number of ops in a cost-model file; they take a few MB.
  static constexpr size_t kMost = 20'000;

  // Remembers the times of the samples, in place of those known for the same ops. A sample belongs
  // to the device that its `gpu` names, or to its own `device`. Several samples of one op count as
  // one, with their mean time and the largest of their spreads.
  void Add(std::span<const Sample> samples);

  size_t size() const;

  // A function that prices ops on a device.
  using Pricing = std::function<std::vector<Estimate>(std::span<const Op>, const Device&)>;
  // Replaces the estimates of ops that were measured on this device by the measured times, with
  // Basis::kMeasured; the host's time to launch them stays, and so do all other estimates. Samples
  // are taken at the boost clock: if the device's training clock is lower, a measured time grows by
  // as much as `price` says that the op's time grows.
  void Correct(std::span<const Op> ops, const Device& device, const Pricing& price,
               std::vector<Estimate>* estimates) const;

  // Throws an InputError that begins with `name`.
  static MeasuredTimes FromProto(const CostModelProto& proto, const std::string& name);
  void AddTo(CostModelProto* proto) const;

 private:
  struct Measured {
    Op op;
    Duration time;
    double spread = 0;
  };
  struct Table {
    std::vector<Measured> measured;              // in the order in which they were added
    std::unordered_map<Op, size_t> places = {};  // indices into `measured`
    void Set(const Measured& measured);
  };

  std::map<std::string, Table> tables_;  // by id of the device
};

}  // namespace stagecraft
