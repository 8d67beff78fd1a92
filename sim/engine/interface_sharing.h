// Computes how messages, reductions and exchanges of one rank slow each other down on the
// interfaces of its node, if each takes the time of the cost model (the `model` fidelity).
//
// The cost model prices a task as if its rank sent nothing else. If two tasks of a rank ran beside
// each other for a time t, and the ops of one of them keep the rank's interfaces busy for a share a
// of its own time and those of the other for a share b, they had (a + b) t to send within t: each
// is stretched by (a + b - 1) t if that is more than 0.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Returns the stretched duration of every task; `durations` are those with which `timeline` ran.
// The result is empty if nothing changes. The cost is one walk over the schedule, and each pair of
// tasks that overlap.
std::vector<Duration> ShareInterfaces(const Schedule& schedule, const Timeline& timeline,
                                      const BoundCosts& costs, std::span<const Duration> durations);

}  // namespace stagecraft
