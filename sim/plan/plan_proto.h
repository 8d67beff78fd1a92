// Converts plans from and to their protos.
//
// A PlanProto either lists its stages or gives degrees (exactly one of the two); what it leaves out
// is derived as proto/plan.proto says. The readers check everything and throw an InputError that
// opens with `file` and names the first problem; the plans that they return have no FindErrors().
#pragma once

#include <string>

#include "proto/plan.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

Plan PlanFromProto(const PlanProto& proto, const Workload& workload, const Cluster& cluster,
                   const std::string& file);

// The degrees of a plan that gives them; MakePlan() makes the rest of it. Throws InputError for a
// plan that lists its stages.
PlanDegrees DegreesFromProto(const PlanProto& proto, const std::string& file);

// Checks what must hold on any cluster for any workload: ranges, devices that occur only once,
// layers without gaps. Throws InputError.
void CheckPlanStructure(const PlanProto& proto, const std::string& file);

// Lists the stages and states everything: PlanFromProto(ToProto(plan)) equals `plan`.
PlanProto ToProto(const Plan& plan);

}  // namespace stagecraft
