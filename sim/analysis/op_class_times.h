// OpClassTimes: what two timelines spend on each class of ops.
//
// Tasks are measured, not the ops inside them. So a task's time is divided among its
// classes as it was predicted: by the exposed time of its ops, in both timelines. Of
// tasks that run one class alone that is exact; `exact` says how much of a class they are.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/op.h"
#include "sim/analysis/time_pair.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

struct OpClassTime {
  // None: tasks of several classes, where the times of ops are not known.
  std::optional<OpKind> kind;
  int tasks = 0;     // that run some of it, exposed
  TimePair time;     // over all devices
  double exact = 0;  // share of the predicted time
};

// In order of kinds, those that tasks run. Tasks without ops are of kNone.
std::vector<OpClassTime> TimeByOpClass(const TimelineRecord& predicted,
                                       const TimelineRecord& measured);

}  // namespace stagecraft
