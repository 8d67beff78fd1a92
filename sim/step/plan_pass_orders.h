// Pipeline schedules that depend on the costs of passes.
#pragma once

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The time in ns and the memory in bytes that the passes of a plan's first pipeline take. Linear in
// the ops of its chunks.
PassOrderInputs MeasurePasses(const Plan& plan, const Workload& workload, const Cluster& cluster,
                              const CostModel& model, const FrameworkMemory& framework = {});

// The plan with its passes listed if its pipeline schedule depends on costs, otherwise as it is.
// The plan must have no FindErrors(); throws InputError if the memory limit of a pipeline schedule
// is less than it needs.
Plan WithPassOrders(Plan plan, const Workload& workload, const Cluster& cluster,
                    const CostModel& model, const FrameworkMemory& framework = {});

}  // namespace stagecraft
