// MeasureSteps: executes training steps of one schedule, one after another.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/executor.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Results of the executed training steps. The steps that count are those that CountingSteps()
// chooses: those that were queued in time, or all if none was.
struct MeasuredSteps {
  // The timeline of the median step among those that count; if their number is even, of the quicker
  // of the two in the middle.
  Timeline timeline;
  std::vector<Duration> steps;  // the duration of each, in order
  // The standard deviation of each task's duration over the steps that count, by task; empty if
  // only one step counts.
  std::vector<Duration> task_sigma;
  // For each step, how long devices waited for the host, as in Measurement; empty if that is not
  // known.
  std::vector<Duration> queued_late;
};

// `least` steps, and more until they have taken `time` together or there are a hundred.
struct StepCount {
  int least = 0;
  Duration time = {};
};

// How many steps are executed. Devices are slower at first, so warm-up steps come before those that
// are measured. Several are measured, since a disturbance may fall into any short step.
struct StepCounts {
  StepCount warm_up = {2, 500_ms};    // steps that are not measured
  StepCount measured = {5, 2000_ms};  // least >= 1
};

// Returns how late each of the last `steps` steps was queued, or nothing if that is not known. It
// is called once, when all steps have ended.
using LateBySteps = std::function<std::vector<Duration>(size_t steps)>;

// Returns the results of steps that have these timelines, in order; at least one. `queued_late` is
// empty or has an entry for each.
MeasuredSteps SumUp(const Schedule& schedule, std::vector<Timeline> timelines,
                    std::vector<Duration> queued_late = {});

// Executes the steps. Processes that execute together get equal timelines, and so all run the same
// number of steps. `progress` is called with the number of steps of both kinds that have ended.
MeasuredSteps MeasureSteps(Executor& executor, const Schedule& schedule, const StepCounts& counts,
                           const std::function<void(int done)>& progress,
                           const LateBySteps& late_by = {});

}  // namespace stagecraft
