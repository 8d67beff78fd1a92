// OpClassTimes: how much time two timelines spend on each class of ops.
//
// Tasks are measured, not the ops inside them. So the time of a task is divided among its classes
// as it was predicted, by the exposed time of its ops, in both timelines. For tasks that run ops of
// one class alone this is exact; `exact` says how large their share of a class is.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/op.h"
#include "sim/analysis/time_pair.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

struct OpClassTime {
  // No value stands for tasks of several classes for which the times of ops are not known.
  std::optional<OpKind> kind;
  int tasks = 0;     // those in which ops of the class are exposed
  TimePair time;     // over all devices
  double exact = 0;  // share of the predicted time in tasks of this class alone
};

// Returns the classes that tasks run, in order of kinds. Tasks without ops count as kNone.
std::vector<OpClassTime> TimeByOpClass(const TimelineRecord& predicted,
                                       const TimelineRecord& measured);

}  // namespace stagecraft
