// Orders that depend on what passes cost.
#pragma once

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/pipeline/make_orders.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What the passes of a plan's first pipeline take and hold, in ns and bytes. Linear in
// the chunks' ops.
OrderInputs MeasurePasses(const Plan& plan, const Workload& workload, const Cluster& cluster,
                          const CostModel& model);

// The plan with its orders spelled out where they depend on costs, else as it is. The
// plan must have no FindErrors(); throws InputError where an order's memory limit is
// less than it takes.
Plan WithOrders(Plan plan, const Workload& workload, const Cluster& cluster,
                const CostModel& model);

}  // namespace stagecraft
