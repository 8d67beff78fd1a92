// Replicas that are copies of others on other nodes.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns, by replica, an earlier one on whose nodes it would be the same: all devices of all its
// stages, and of the replicas that share experts with it, are the same number of nodes further on,
// in nodes of the same types, and it takes as many micro-batches. Its groups and messages then see
// the cluster as those of the earlier one do. A replica without such an original is its own; all
// are if something else than their types tells nodes apart (alike_nodes.h). Cost: one walk over the
// devices of the plan for each kind of replica, of which there are few. Precondition:
// HasSeparatePipelines(plan).
std::vector<int> FindOriginals(const Plan& plan, const Cluster& cluster);

}  // namespace stagecraft
