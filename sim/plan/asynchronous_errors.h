// What a plan whose pipeline never flushes cannot do.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Appends a sentence for each problem of a plan with IsAsynchronous(plan.schedule). Precondition:
// stages, layers and devices are right.
void FindAsynchronousErrors(const Plan& plan, const Workload& workload,
                            std::vector<std::string>& errors);

}  // namespace stagecraft
