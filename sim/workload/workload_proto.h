// WorkloadFromProto(): reads a Workload from its proto. It checks everything and throws InputError
// with the path of the offending field; past it, the workload is valid.
#pragma once

#include <string_view>

#include "proto/workload.pb.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// `path` names the message in errors: "workload.textproto".
Workload WorkloadFromProto(const WorkloadProto& proto, std::string_view path);

}  // namespace stagecraft
