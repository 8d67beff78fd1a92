// Why none of the plans that a problem asks for can be made.
#pragma once

#include <string>

#include "search/problem.h"

namespace stagecraft {

// What a simulation would say about the first degrees among the choices that cannot be made, as a
// sentence. Degrees that are not asked for are 1, and there are as many replicas as divide the
// batch. If a simulation takes each of the choices by itself, the sentence says that a search has
// no plan with them. Never empty.
std::string FindRefusal(const SearchProblem& problem);

}  // namespace stagecraft
