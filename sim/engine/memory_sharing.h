// How devices that share one memory slow each other down: parts of a GPU
// (Cluster::shared_memories). The CPUs of a host are not given as such, because their ops are
// measured side by side.
//
// The cost model prices a task as if its device were alone. For a share of its time the task is
// bound by memory, and then it takes the whole bandwidth of its device. Tasks that run side by side
// are bound or not independently of each other (an assumption): if the others take X of the
// bandwidth of the memory and the task takes c of it while it is bound, the excess
// E max(0, c + X - 1) is lost in proportion. X is taken as normal, with the mean and variance that
// the shares of the others give it; no more is lost than if all took theirs at once.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// The stretched duration of every task; `durations` are those with which `timeline` ran. Empty if
// nothing changes. Messages within the memory read and write it once; copies to and from a host are
// left out, since their port is narrow. Cost: tasks times lanes side by side.
std::vector<Duration> ShareMemory(const Schedule& schedule, const Timeline& timeline,
                                  const BoundCosts& costs, const Cluster& cluster,
                                  std::span<const Duration> durations);

}  // namespace stagecraft
