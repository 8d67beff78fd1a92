// SlowestGroup(): of groups of devices that run collectives side by side, in lockstep, the slowest,
// which sets the time of all.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Returns whether a group that sees `a` is slower than one of the same size that sees `b`. This is
// a total order: a group that spans more nodes is slower, then one with narrower links to other
// nodes, then with narrower links inside a node, then with longer latencies.
bool IsSlower(const Fabric& a, const Fabric& b);

// Returns Cluster::DescribeGroup() of the slowest group, in whatever order the groups are listed.
// Precondition: at least one group, and at least one device in each.
Fabric SlowestGroup(const Cluster& cluster, std::span<const std::vector<int>> groups,
                    Traffic traffic = Traffic::kRing);

}  // namespace stagecraft
