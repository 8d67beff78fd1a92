// The memory that each rank holds under a plan, for an executor that allocates it.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "runtime/planned_memory.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the memory by rank of `schedule`, which must be one of this plan. Workspaces, messages
// and contexts are left out, because libraries and exchanges allocate theirs. Activations that the
// plan offloads to the host are counted on the device.
std::vector<PlannedMemory> PlanMemory(const Plan& plan, const Workload& workload,
                                      const Cluster& cluster, const Schedule& schedule);

// Returns what each rank must not lose, by rank of `schedule`: its weights and optimizer states.
std::vector<Bytes> KeptStates(const Plan& plan, const Workload& workload, const Cluster& cluster,
                              const Schedule& schedule);

}  // namespace stagecraft
