// Computes how collectives slow down what their ranks compute beside them: a collective takes
// multiprocessors from it (Estimate::slowdown).
//
// Within an op sequence, an op that computes while collectives run (kOverlapsNext) takes longer by
// the share that they take of the time that they run beside it. Between tasks, those of a rank's
// collectives on other lanes count that run in the time of a task that computes; several of one
// task slow it on average.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Returns the duration of every task if those that compute are slowed down as `timeline` shows
// collectives beside them; `durations` are what they would take otherwise. The result is empty if
// nothing changes. A task on several ranks loses as much as on the rank that loses most. The cost
// is one walk over the schedule, and each pair of tasks that overlap.
std::vector<Duration> SlowCompute(const Schedule& schedule, const Timeline& timeline,
                                  const BoundCosts& costs, std::span<const Duration> durations);

}  // namespace stagecraft
