// Activations that wait for their backward with the host: the copies beside the passes.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Of every rank and OffloadedPass a task on the port's lane of each direction. Copied is
// the plan's share of what memory/rank_tensors.h says a forward saves, of a framework
// that is described by nothing else.
void AddActivationCopies(const Plan& plan, const Workload& workload, const Cluster& cluster,
                         LoweredPasses& passes, Schedule::Builder& builder);

}  // namespace stagecraft
