// The second half of a lowering: what data-parallel ranks exchange beside the
// passes, and what ends a step. Gradients are reduced, the norm is agreed on,
// the optimizer steps, sharded parameters are gathered.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

void AddUpdate(const Plan& plan, const Workload& workload, const Cluster& cluster,
               LoweredPasses& passes, Schedule::Builder& builder);

}  // namespace stagecraft
