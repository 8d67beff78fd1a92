// How ranks that synchronise gradients are connected with their servers and with each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/gradient_sync.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns the devices that serve a stage. They are taken in order from the devices that the plan
// does not use: SyncOptions::servers for each tensor index and each rank that divides the experts.
// FindErrors() must find nothing wrong with the plan.
std::vector<int> SyncServers(const Plan& plan, const Cluster& cluster, int stage);

// Ranks that synchronise with each other, and the servers that serve only them.
struct ServedGroup {
  std::span<const int32_t> ranks;
  std::span<const int> servers;
};

// Describes groups of equal size that work side by side. Links are the narrowest ones between any
// rank and any server of its group. The interfaces of a node are shared: in `worker` by all ranks
// on the node, of whatever group, in `server` by all servers on it. That ranks and servers of one
// node also compete with each other is not counted.
GradientSync DescribeSync(const SyncOptions& options, const Cluster& cluster,
                          std::span<const ServedGroup> groups);

}  // namespace stagecraft
