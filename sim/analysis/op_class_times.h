// OpClassTimes: how much time two timelines spend on each class of ops.
//
// Tasks are measured, not the ops inside them. So the time of a task is divided among its classes
// as it was predicted, by the exposed time of its ops, in both timelines. For tasks that run ops of
// one class alone this is exact; `exact` says which share of a class they are.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/op.h"
#include "sim/analysis/time_pair.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

struct OpClassTime {
  // No value: tasks of several classes for which the times of ops are not known.
  std::optional<OpKind> kind;
  int tasks = 0;     // that run some of the class, exposed
  TimePair time;     // over all devices
  double exact = 0;  // share of the predicted time
};

// The classes that tasks run, in order of kinds. Tasks without ops are of kNone.
std::vector<OpClassTime> TimeByOpClass(const TimelineRecord& predicted,
                                       const TimelineRecord& measured);

}  // namespace stagecraft
