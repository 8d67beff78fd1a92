// What MakePlan() does, on devices of one's choice.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The ranks of a replica of a stage, of resolved degrees; without PlanDegrees::stage_replicas.
std::vector<int> ReplicaRanks(const PlanDegrees& degrees, int stage, int replica);

// As MakePlan(), with rank r on devices[r], which are distinct devices of the cluster, at least as
// many as the plan has ranks.
Plan MakePlanOn(std::span<const int> devices, const PlanDegrees& degrees, const Workload& workload,
                const Cluster& cluster);

}  // namespace stagecraft
