// What a plan has each rank hold, for an executor that allocates it.
#pragma once

#include <vector>

#include "runtime/planned_memory.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// By rank of a schedule of the plan. Without workspaces, messages and contexts: libraries and
// exchanges take theirs. Activations that the plan has with the host are counted on the device.
std::vector<PlannedMemory> PlanMemory(const Plan& plan, const Workload& workload,
                                      const Cluster& cluster, const Schedule& schedule);

}  // namespace stagecraft
