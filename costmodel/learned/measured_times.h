// MeasuredTimes: what ops were measured to take by themselves, on each device.
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
  // That a file may hold: some MB.
  static constexpr size_t kMost = 20'000;

  // What the samples say, in place of what was known of the same ops. A sample is of the device of
  // its `gpu`, or of its own board; of several of one op the mean counts, and the largest spread.
  void Add(std::span<const Sample> samples);

  size_t size() const;

  // How a model prices ops on a device.
  using Pricing = std::function<std::vector<Estimate>(std::span<const Op>, const Device&)>;
  // Of ops that were measured on the device, estimates become Basis::kMeasured, but for what the
  // host launches. At a training clock below the boost clock, at which samples are taken, they slow
  // down as `price` says, whose estimates the others stay.
  void Correct(std::span<const Op> ops, const Device& device, const Pricing& price,
               std::vector<Estimate>* estimates) const;

  // Throws InputError, `name` first.
  static MeasuredTimes FromProto(const CostModelProto& proto, const std::string& name);
  void AddTo(CostModelProto* proto) const;

 private:
  struct Measured {
    Op op;
    Duration time;
    double spread = 0;
  };
  struct Table {
    std::vector<Measured> measured;              // in the order in which they came
    std::unordered_map<Op, size_t> places = {};  // in it
    void Set(const Measured& measured);
  };

  std::map<std::string, Table> tables_;  // by id of the device
};

}  // namespace stagecraft
