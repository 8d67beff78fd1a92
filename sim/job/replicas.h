// Which data-parallel replicas are left in a state of the cluster, for runs that shrink.
#pragma once

#include <vector>

#include "sim/job/cluster_health.h"

namespace stagecraft {

// Returns the indices of the replicas without a device that is down, ascending. replicas[r] are the
// devices of replica r in all stages. Takes O(devices).
std::vector<int> LiveReplicas(const std::vector<std::vector<int>>& replicas,
                              const ClusterState& state);

}  // namespace stagecraft
