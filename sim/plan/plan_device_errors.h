// What is wrong with the devices of a plan.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Each appends a sentence for each problem.

// Devices that the cluster does not have, that work twice, that are too few or too many
// for a replica, or whose board cannot do what the plan asks for.
void FindDeviceErrors(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors);

// A profile holds for one kind of board, 32 bits and whole operators. Precondition: the
// devices are right.
void FindProfileErrors(const Plan& plan, const Workload& workload, const Cluster& cluster,
                       std::vector<std::string>& errors);

}  // namespace stagecraft
