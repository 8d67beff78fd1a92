// What devices lose to each other that share one memory: parts of a board
// (Cluster::shared_memories). Processors of a host are not given as such: their ops are
// measured side by side.
//
// The cost model prices a task as if its device were alone. Of its time a share is bound
// by memory, and then it takes the whole bandwidth of its device. Tasks side by side are
// in and out of that independently of each other (assumption): where the others take X of
// the memory's bandwidth and the task, while it is bound, c of it, what is too much,
// E max(0, c + X - 1), is lost in proportion. X is taken as normal, of the mean and the
// variance that the others' shares give it; no more is lost than where all take theirs at once.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// By task, what it takes with that; `durations` are those `timeline` ran with. Empty
// where nothing changes. Messages within the memory read and write it once; copies to and
// from a host are left out, as their port is narrow. Cost: tasks times lanes side by side.
std::vector<Duration> ShareMemory(const Schedule& schedule, const Timeline& timeline,
                                  const BoundCosts& costs, const Cluster& cluster,
                                  std::span<const Duration> durations);

}  // namespace stagecraft
