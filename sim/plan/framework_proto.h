// Reads and writes a Framework as a FrameworkProto.
#pragma once

#include "proto/framework.pb.h"
#include "sim/plan/framework.h"
#include "sim/plan/plan_proto_place.h"

namespace stagecraft {

// Throws an InputError at `place`, which is that of the message's fields: {"plan.yaml",
// "framework."}.
Framework FrameworkFromProto(const FrameworkProto& proto, const PlanPlace& place);

FrameworkProto FrameworkToProto(const Framework& framework);

}  // namespace stagecraft
