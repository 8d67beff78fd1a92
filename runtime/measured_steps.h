// Steps of one schedule, executed one after another.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/executor.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Steps count that were queued in time; where none was, all do.
struct MeasuredSteps {
  Timeline timeline;            // of the median step that counts, of an even number the quicker one
  std::vector<Duration> steps;  // what each took, in order
  // By task: the standard deviation of its duration over the steps that count; empty where only one
  // step counts.
  std::vector<Duration> task_sigma;
  // By step: how long the host was still queueing it after devices had begun; empty: not known.
  std::vector<Duration> queued_late;
};

// So many steps, and more until they have taken `time` together or are a hundred.
struct StepCount {
  int least = 0;
  Duration time = {};
};

// Devices are slower at first, and a short step is ended before what disturbs it is.
struct StepCounts {
  StepCount warm_up = {2, 500_ms};    // that do not count
  StepCount measured = {5, 2000_ms};  // least >= 1
};

// How late each of the last `steps` was queued; asked once, when all have ended.
using LateBySteps = std::function<std::vector<Duration>(size_t steps)>;

// Processes that execute together see equal times, and so go on equally long. `progress`
// hears how many steps have ended, of both kinds.
MeasuredSteps MeasureSteps(Executor& executor, const Schedule& schedule, const StepCounts& counts,
                           const std::function<void(int done)>& progress,
                           const LateBySteps& late_by = {});

}  // namespace stagecraft
