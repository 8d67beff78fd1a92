// CallOverhead: the time that a source's way of timing adds to a kernel's own time.
//
// Some laboratories time one eager call at a time. What they report is never shorter than a floor,
// the cost of an empty call, and a longer kernel begins only after the host has launched it:
//
//   reported = max(floor, lead + device time)
//
// The floor is the 5th percentile of a source's rows of one op on one GPU type. The lead is a share
// of it: 0.9 for GEMMs, where the launch comes last, and 0.57 for the rest (both from latency =
// lead + bytes / rate over the rows above 60 us of data/kernels/fp32_kernels).
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>

#include "costmodel/learned/sample.h"
#include "costmodel/units.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

class CallOverhead {
 public:
  CallOverhead() = default;  // none
  // Only samples that time whole calls have an overhead.
  static CallOverhead Fit(std::span<const Sample> samples);

  // Throws an InputError that begins with `name`.
  static CallOverhead FromProto(const CostModelProto& proto, const std::string& name);
  void AddTo(CostModelProto& proto) const;

  // Returns the time that the source would report for a kernel of this time. Ops and GPU types that
  // were not fitted take the mean floor of the other ops of the type, or of all.
  Duration Reported(const Sample& sample, Duration device_time) const;
  // Returns the kernel's own time; zero if the row lies within 15 % of the floor and so says
  // nothing about the kernel.
  Duration DeviceTime(const Sample& sample) const;

 private:
  double Floor(const Sample& sample) const;  // seconds

  std::map<std::tuple<std::string, std::string, std::string>, double> floors_;  // source, gpu, name
};

}  // namespace stagecraft
