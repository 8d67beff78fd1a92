// What the replicas of asynchronous pipelines exchange behind their backwards: each
// update waits for its gradients to be reduced, and sharded parameters are gathered
// before they are used. The updates themselves stand among the passes.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

void AddAsynchronousUpdates(const Plan& plan, const Workload& workload, const Cluster& cluster,
                            LoweredPasses& passes, Schedule::Builder& builder);

}  // namespace stagecraft
