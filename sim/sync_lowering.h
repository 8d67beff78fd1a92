// What groups of ranks that synchronise gradients see of servers and of each other.
#pragma once

#include <span>
#include <vector>

#include "costmodel/gradient_sync.h"
#include "sim/cluster.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace stagecraft {

// The devices that serve a stage, of those beyond the plan's, in order: for each
// tensor index and each rank that divides the experts, SyncOptions::servers.
// Precondition: FindErrors() finds none.
std::vector<int> SyncServers(const Plan& plan, const Cluster& cluster, int stage);

// Of groups of equal size that work side by side, the i-th with servers
// [i k, (i + 1) k). Links are the narrowest of any.
GradientSync DescribeSync(const SyncOptions& options, const Cluster& cluster,
                          const DeviceGroups& groups, std::span<const int> servers);

}  // namespace stagecraft
