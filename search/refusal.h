// Why none of the plans that a problem asks for can be made.
#pragma once

#include <string>

#include "search/problem.h"

namespace stagecraft {

// Returns, as a sentence, the error of a simulation with the first degrees among the choices that
// it refuses. Degrees that are not asked for are 1, and there are as many replicas as divide the
// batch. If a simulation accepts each combination of choices, the sentence says that a search has
// no plan with them. Never empty.
std::string FindRefusal(const SearchProblem& problem);

}  // namespace stagecraft
