// Checks a plan that a search returns without relying on anything that the search computed.
#pragma once

#include <string>
#include <vector>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// Returns one sentence for each way in which a returned plan is not what the search says: the plan
// cannot be lowered, does not fit, or is not what was asked for, or a simulation from scratch gives
// another time, memory or score. Costs one simulation.
std::vector<std::string> FindErrors(const SearchProblem& problem, const RankedPlan& ranked);

}  // namespace stagecraft
