// LiveReplicas(): which data-parallel replicas are left in a state of the cluster, for runs that
// shrink.
#pragma once

#include <span>
#include <vector>

#include "sim/job/cluster_health.h"

namespace stagecraft {

// Returns the indices of the replicas without a device that is down, ascending. replicas[r] are the
// devices of replica r in all stages. Takes O(devices).
std::vector<int> LiveReplicas(const std::vector<std::vector<int>>& replicas,
                              const ClusterState& state);

// Returns the devices that are not down and do nothing, ascending, if only the `working` replicas
// (ascending indices) do something: RunningStep::idle.
std::vector<int> IdleDevices(const std::vector<std::vector<int>>& replicas,
                             std::span<const int> working, const ClusterState& state);

}  // namespace stagecraft
