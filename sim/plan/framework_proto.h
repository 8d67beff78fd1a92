// Reads and writes a Framework as a FrameworkProto.
#pragma once

#include <string>

#include "proto/framework.pb.h"
#include "sim/plan/framework.h"

namespace stagecraft {

// Throws an InputError that begins with `place`, such as "plan.yaml: framework".
Framework FrameworkFromProto(const FrameworkProto& proto, const std::string& place);

FrameworkProto FrameworkToProto(const Framework& framework);

}  // namespace stagecraft
