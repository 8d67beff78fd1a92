// MakePlan() for a choice of devices.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the ranks of a replica of a stage; `degrees` must be resolved and have no stage_replicas.
std::vector<int> ReplicaRanks(const PlanDegrees& degrees, int stage, int replica);

// The same as MakePlan(), but with rank r on devices[r]. These must be distinct devices of the
// cluster, at least as many as the plan has ranks.
Plan MakePlanOn(std::span<const int> devices, const PlanDegrees& degrees, const Workload& workload,
                const Cluster& cluster);

}  // namespace stagecraft
