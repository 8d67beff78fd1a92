// What groups of ranks that synchronise gradients see of servers and of each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/gradient_sync.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// The devices that serve a stage, of those beyond the plan's, in order: for each
// tensor index and each rank that divides the experts, SyncOptions::servers.
// Precondition: FindErrors() finds none.
std::vector<int> SyncServers(const Plan& plan, const Cluster& cluster, int stage);

// Ranks that synchronise with each other, and the servers of theirs alone.
struct ServedGroup {
  std::span<const int32_t> ranks;
  std::span<const int> servers;
};

// Of groups of equal size that work side by side. Links are the narrowest between
// any rank and any server of its group, while the interfaces of a node are shared:
// `worker` by all ranks on it, of whatever group, `server` by all servers on it. What
// ranks and servers of one node take from each other is not counted.
GradientSync DescribeSync(const SyncOptions& options, const Cluster& cluster,
                          std::span<const ServedGroup> groups);

}  // namespace stagecraft
