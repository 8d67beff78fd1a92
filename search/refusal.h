// Why none of the plans that a problem asks for can be made.
#pragma once

#include <string>

#include "search/problem.h"

namespace stagecraft {

// If a simulation refuses each combination of the choices, returns the error of the first, as a
// sentence; empty if it accepts one. Degrees that are not asked for are 1, and there are as many
// replicas as divide the batch.
std::string FindRefusal(const SearchProblem& problem);

}  // namespace stagecraft
