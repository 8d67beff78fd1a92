// DegreesOf: the degrees that make a plan, which are a much shorter description of it.
#pragma once

#include <optional>

#include "proto/plan.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns degrees from which MakePlan() makes exactly this plan on this cluster; no value if there
// are none, because stages differ or devices stay idle.
std::optional<PlanDegrees> DegreesOf(const Plan& plan, const Workload& workload,
                                     const Cluster& cluster);

// Returns the proto of the plan: if DegreesOf() has a value the one with `degrees`, without fields
// that have their defaults anyway, else the one that lists the stages (ToProto()). Both are read as
// the same plan of this workload and cluster.
PlanProto ToShortProto(const Plan& plan, const Workload& workload, const Cluster& cluster);

}  // namespace stagecraft
