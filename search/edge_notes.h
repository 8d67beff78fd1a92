// Notes on a search's best plan that lies at the edge of what the search tried.
#pragma once

#include <string>
#include <vector>

#include "search/problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns a sentence for each degree of the plan that is the largest which a search tries by itself
// (search/space.h), if a larger one is possible and the problem's choices leave it open. The
// sentence says with which flag a larger one is tried.
std::vector<std::string> EdgeNotes(const SearchProblem& problem, const Plan& best);

}  // namespace stagecraft
