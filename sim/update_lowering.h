// The second half of a lowering: what data-parallel ranks exchange beside the
// passes, and what ends a step. Gradients are reduced, the norm is agreed on,
// the optimizer steps, sharded parameters are gathered.
#pragma once

#include "sim/cluster.h"
#include "sim/lowered_passes.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "sim/workload.h"

namespace stagecraft {

void AddUpdate(const Plan& plan, const Workload& workload, const Cluster& cluster,
               LoweredPasses& passes, Schedule::Builder& builder);

}  // namespace stagecraft
