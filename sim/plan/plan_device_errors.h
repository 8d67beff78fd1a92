// What is wrong with the devices of a plan.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Each of these functions appends a sentence for each problem.

// Devices that the cluster does not have, that are used twice, that are too few or too many for a
// replica, or whose GPU type cannot do what the plan asks for.
void FindDeviceErrors(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors);

// A profile holds for one GPU type, 32 bits and whole operators. Precondition: the devices are
// right.
void FindProfileErrors(const Plan& plan, const Workload& workload, const Cluster& cluster,
                       std::vector<std::string>& errors);

}  // namespace stagecraft
