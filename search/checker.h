// The checker: what a search returns, looked at again as if nothing were known of it.
#pragma once

#include <string>
#include <vector>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// Every way in which a returned plan is not what the search says, a sentence each: it
// cannot be lowered, does not fit, is not what was asked for, or its simulation from
// nothing gives another time, memory or score. Costs one simulation.
std::vector<std::string> FindErrors(const SearchProblem& problem, const RankedPlan& ranked);

}  // namespace stagecraft
