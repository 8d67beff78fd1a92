// Groups of devices that run collectives side by side, in lock-step: all of them take as
// long as the slowest.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// A total order of what groups of one size see: the one that spans more nodes is slower, then
// the one of narrower links to other nodes, then inside a node, then of longer latencies.
bool IsSlower(const Fabric& a, const Fabric& b);

// Cluster::DescribeGroup() of the slowest of them, in whatever order they are listed. At least
// one; each of at least one device.
Fabric SlowestGroup(const Cluster& cluster, std::span<const std::vector<int>> groups,
                    Traffic traffic = Traffic::kRing);

}  // namespace stagecraft
