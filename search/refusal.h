// Why none of the plans that a problem asks for can be made.
#pragma once

#include <string>

#include "search/problem.h"

namespace stagecraft {

// What simulations say of the first degrees among the choices that cannot be made, a sentence.
// What is not asked for is 1, and the replicas are as many as divide the batch. Of choices that
// simulations take one by one it says that a search has no plan of them. Never empty.
std::string FindRefusal(const SearchProblem& problem);

}  // namespace stagecraft
