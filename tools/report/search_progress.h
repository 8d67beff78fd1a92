// Writes the text of the progress line of a search.
#pragma once

#include <string>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// Returns "64 plans evaluated, 32 plans/s, at most 5600 left (175 s); step time (ms): best 1086,
// bound 191.5". `seconds` is how long the search has taken so far.
std::string SearchProgressText(const SearchProblem& problem, const SearchProgress& progress,
                               double seconds);

}  // namespace stagecraft
