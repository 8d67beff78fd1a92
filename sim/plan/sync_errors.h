// What is wrong with how a plan synchronises gradients.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Appends a sentence for each problem. Precondition: the plan is right otherwise.
void FindSyncErrors(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors);

}  // namespace stagecraft
