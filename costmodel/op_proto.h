// Converts Op from and to its proto.
//
// The reader checks everything and throws InputError with the path of the offending field; what it
// returns is valid. A round trip gives an equal value.
#pragma once

#include <string_view>

#include "costmodel/op.h"
#include "proto/op.pb.h"

namespace stagecraft {

// `path` names the message in errors: "schedule.ops[3]".
Op OpFromProto(const OpProto& proto, std::string_view path);
OpProto ToProto(const Op& op);

}  // namespace stagecraft
