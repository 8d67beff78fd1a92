// Converts Op and Estimate from and to their protos.
//
// The readers check everything and throw InputError with the path of the offending field; what they
// return is valid. A round trip gives an equal value.
#pragma once

#include <string_view>

#include "costmodel/cost_model.h"
#include "costmodel/op.h"
#include "proto/estimate.pb.h"
#include "proto/op.pb.h"

namespace stagecraft {

// `path` names the message in errors: "schedule.ops[3]".
Op OpFromProto(const OpProto& proto, std::string_view path);
OpProto ToProto(const Op& op);

Estimate EstimateFromProto(const EstimateProto& proto, std::string_view path);
EstimateProto ToProto(const Estimate& estimate);

}  // namespace stagecraft
