// Workload at the border: from and to its proto.
//
// The reader checks everything and throws InputError with the path of the
// offending field; past it, the workload is valid. A round trip gives an equal
// value.
#pragma once

#include <string_view>

#include "proto/workload.pb.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// `path` names the message in errors: "workload.textproto".
Workload WorkloadFromProto(const WorkloadProto& proto, std::string_view path);
WorkloadProto WorkloadToProto(const Workload& workload);

}  // namespace stagecraft
