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

// Those steps count that CountingSteps() names: which were queued in time, or all where none was.
struct MeasuredSteps {
  // The timeline of the median step among those that count; of an even number, of the quicker one
  // of the middle two.
  Timeline timeline;
  std::vector<Duration> steps;  // what each took, in order
  // The standard deviation of each task's duration over the steps that count, by task; empty where
  // only one step counts.
  std::vector<Duration> task_sigma;
  // How long the host was still queueing each step after devices had begun it, by step; empty: not
  // known.
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

// Returns how late each of the last `steps` steps was queued, or nothing where that is not known.
// It is asked once, when all have ended.
using LateBySteps = std::function<std::vector<Duration>(size_t steps)>;

// Processes that execute together see equal times, and so go on equally long. `progress`
// hears how many steps have ended, of both kinds.
MeasuredSteps MeasureSteps(Executor& executor, const Schedule& schedule, const StepCounts& counts,
                           const std::function<void(int done)>& progress,
                           const LateBySteps& late_by = {});

}  // namespace stagecraft
