// What is wrong with the pipeline schedule of a plan.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Appends a sentence for each problem. Precondition: stages, layers and devices are right.
void FindOrderErrors(const Plan& plan, const Workload& workload, std::vector<std::string>& errors);

}  // namespace stagecraft
