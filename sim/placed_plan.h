// Plans from degrees on devices of one's choice.
#pragma once

#include <span>

#include "sim/cluster.h"
#include "sim/plan.h"
#include "sim/workload.h"

namespace stagecraft {

// As MakePlan(), with rank r on devices[r]: distinct devices of the cluster, at least
// PlanDegrees::devices of them. All stages have equally many replicas. Throws InputError as
// MakePlan() does.
Plan MakePlanOn(std::span<const int> devices, const PlanDegrees& degrees, const Workload& workload,
                const Cluster& cluster);

}  // namespace stagecraft
