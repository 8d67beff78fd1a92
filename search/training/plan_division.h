// The layers of a plan as a division over its stages.
#pragma once

#include <vector>

#include "search/balance/balance_problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns how many layers each stage of the plan has, in pipeline order.
Division DivisionOf(const Plan& plan);
// Returns the plan with its layers divided anew over its stages, in order. Preconditions: the
// division has as many stages, each with one chunk.
Plan WithDivision(Plan plan, const Division& division);

// Throws InputError with one sentence that begins with --balance if the layers of the plan cannot
// be divided anew: a single stage, several chunks on a stage, a stage without layers, a split
// vocabulary, ranges of recomputed layers.
void CheckDivisible(const Plan& plan);

// Returns the devices of all stages and replicas, ascending.
std::vector<int> DevicesOf(const Plan& plan);

}  // namespace stagecraft
