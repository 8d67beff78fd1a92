// What both forms of a PlanProto share: everything but its stages or degrees.
#pragma once

#include "proto/plan.pb.h"
#include "sim/plan/plan.h"
#include "sim/plan/plan_proto_place.h"

namespace stagecraft {

// Sets what `proto` says about the step, and zero, gradient_bytes and the pipeline schedule of
// `plan`; stages and sequence parallelism stay as they are. Throws InputError at `place`.
void ReadShared(const PlanProto& proto, const PlanPlace& place, Plan& plan);

}  // namespace stagecraft
