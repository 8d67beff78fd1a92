// Steps of one schedule, executed one after another.
#pragma once

#include <functional>
#include <vector>

#include "costmodel/units.h"
#include "sim/executor.h"
#include "sim/schedule.h"
#include "sim/timeline.h"

namespace stagecraft {

struct MeasuredSteps {
  Timeline timeline;                 // of the median step, of an even number the quicker one
  std::vector<Duration> steps;       // what each took, in order
  std::vector<Duration> task_sigma;  // by task: of its duration over the steps; empty of one
};

// Executes the schedule `warm_up` times that do not count, then `steps` >= 1 times that do.
// `progress` hears how many have ended, of both kinds.
MeasuredSteps MeasureSteps(Executor& executor, const Schedule& schedule, int warm_up, int steps,
                           const std::function<void(int done)>& progress);

}  // namespace stagecraft
