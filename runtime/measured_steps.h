// Executes training steps of one schedule one after another.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/executor.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// The steps that CountingSteps() names count: those that were queued in time, or all if none was.
struct MeasuredSteps {
  // The timeline of the median step among those that count; for an even number, of the quicker one
  // of the middle two.
  Timeline timeline;
  std::vector<Duration> steps;  // the duration of each, in order
  // The standard deviation of each task's duration over the steps that count, by task; empty if
  // only one step counts.
  std::vector<Duration> task_sigma;
  // For how long the host was still queueing each step after devices had begun it, by step; empty:
  // not known.
  std::vector<Duration> queued_late;
};

// At least this many steps, and more until they have taken `time` together or are a hundred.
struct StepCount {
  int least = 0;
  Duration time = {};
};

// Devices are slower at first, and a single short step may fall into one disturbance.
struct StepCounts {
  StepCount warm_up = {2, 500_ms};    // that do not count
  StepCount measured = {5, 2000_ms};  // least >= 1
};

// Returns how late each of the last `steps` steps was queued, or nothing if that is not known. It
// is asked once, when all have ended.
using LateBySteps = std::function<std::vector<Duration>(size_t steps)>;

// Processes that execute together see equal times, and so run equally many steps. `progress` is
// told how many steps of both kinds have ended.
MeasuredSteps MeasureSteps(Executor& executor, const Schedule& schedule, const StepCounts& counts,
                           const std::function<void(int done)>& progress,
                           const LateBySteps& late_by = {});

}  // namespace stagecraft
