// The plans of a space among which only taste decides: none is beaten in everything.
#pragma once

#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// A plan is beaten by one that takes no longer, costs no more and comes no closer to a
// device's capacity, and is better in one of these. What is not beaten is returned, by
// step time, then cost; of plans equal in all three the first in the order of the search.
// SearchResult::is_optimal says that no plan of the space is missing: those not evaluated
// are beaten, or equalled, by their bounds. With a budget spent early it is false and
// what is returned is what the plans seen so far leave; `bound` is the least step time
// that one not looked at may have.
//
// The problem's objective is kStepTime, which SearchOptions::top does not limit. A plan is
// simulated only where its memory, too, leaves it unbeaten. Runs on all cores; without
// a budget of seconds the answer is the same on any number of them.
SearchResult SearchPareto(const SearchProblem& problem, PlanSpace& space,
                          const SearchOptions& options);

}  // namespace stagecraft
