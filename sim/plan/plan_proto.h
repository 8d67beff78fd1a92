// Plan at the border: from and to its proto.
//
// A PlanProto either lists its stages or gives degrees (exactly one of the two);
// what it leaves out is derived as proto/plan.proto says. The readers check
// everything and throw InputError that opens with `file` and names the first
// problem; past them, a plan has no FindErrors().
#pragma once

#include <string>

#include "proto/plan.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

Plan PlanFromProto(const PlanProto& proto, const Workload& workload, const Cluster& cluster,
                   const std::string& file);

// The degrees of a plan that has them; MakePlan() makes the rest of it. Throws
// InputError for a plan that lists its stages.
PlanDegrees DegreesFromProto(const PlanProto& proto, const std::string& file);

// What holds on any cluster for any workload: ranges, devices named once, layers
// without gaps. Throws InputError.
void CheckPlanStructure(const PlanProto& proto, const std::string& file);

// Lists stages and says everything: PlanFromProto(ToProto(plan)) is `plan`.
PlanProto ToProto(const Plan& plan);

}  // namespace stagecraft
