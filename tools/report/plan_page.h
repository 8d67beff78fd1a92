// PlanPage: a plan as one HTML page that needs no other file.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the page: the plan's choices, and its stages over nodes and GPUs. `origin` says where the
// plan is from, such as a file. Same input, same bytes.
std::string PlanPage(const Plan& plan, const Workload& workload, const Cluster& cluster,
                     const std::string& origin);

}  // namespace stagecraft
