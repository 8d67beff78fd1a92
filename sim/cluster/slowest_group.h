// Groups of devices that run collectives side by side, in lockstep: all of them take as long as the
// slowest.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// A total order of what groups of one size see: a group that spans more nodes is slower, then one
// with narrower links to other nodes, then with narrower links inside a node, then with longer
// latencies.
bool IsSlower(const Fabric& a, const Fabric& b);

// Cluster::DescribeGroup() of the slowest group, in whatever order they are listed. Precondition:
// at least one group, and at least one device in each.
Fabric SlowestGroup(const Cluster& cluster, std::span<const std::vector<int>> groups,
                    Traffic traffic = Traffic::kRing);

}  // namespace stagecraft
