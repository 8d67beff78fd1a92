// What messages and reductions of one rank lose to each other on the interfaces of
// its node, where each takes the cost model's time (the `model` fidelity).
//
// The cost model prices a task as if its rank sent nothing else. Where two tasks of
// a rank ran beside each other for a time t, one of which keeps the rank's
// interfaces busy for a share a of its own time and the other for b, they had
// (a + b) t to send in t: each is stretched by (a + b - 1) t, if that is more than 0.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// By task, what it takes with that; `durations` are those `timeline` ran with. Empty
// where nothing changes. Cost: the schedule once, and each pair that overlaps.
std::vector<Duration> ShareInterfaces(const Schedule& schedule, const Timeline& timeline,
                                      const BoundCosts& costs, std::span<const Duration> durations);

}  // namespace stagecraft
