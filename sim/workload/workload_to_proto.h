// Converts a workload to its proto: WorkloadFromProto() gives an equal value back.
#pragma once

#include "proto/workload.pb.h"
#include "sim/workload/workload.h"

namespace stagecraft {

WorkloadProto WorkloadToProto(const Workload& workload);

}  // namespace stagecraft
