// Checks what a search returns as if nothing were known about it.
#pragma once

#include <string>
#include <vector>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// One sentence for each way in which a returned plan is not what the search says: it cannot be
// lowered, does not fit, is not what was asked for, or its simulation from nothing gives another
// time, memory or score. Costs one simulation.
std::vector<std::string> FindErrors(const SearchProblem& problem, const RankedPlan& ranked);

}  // namespace stagecraft
