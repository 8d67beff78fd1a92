// The plans of a space that no other plan beats in everything.
#pragma once

#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// A plan is beaten by one that takes no longer, costs no more and comes no closer to a device's
// capacity, and is better in one of these. The plans that are not beaten are returned, by step
// time, then cost; among plans that are equal in all three, the first in the order of the search.
// SearchResult::is_optimal says that no plan of the space is missing: those that were not evaluated
// are beaten, or equalled, by their bounds. If the budget ends the search early it is false, and
// the result is what the plans seen so far leave; `bound` is the least step time that a plan not
// yet looked at may have.
//
// The problem's objective is kStepTime, and SearchOptions::top does not limit the result. A plan is
// simulated only if its memory, too, leaves it unbeaten. Runs on all cores; without a budget of
// seconds the answer is the same on any number of cores.
SearchResult SearchPareto(const SearchProblem& problem, PlanSpace& space,
                          const SearchOptions& options);

}  // namespace stagecraft
