// Searches for the Pareto-optimal plans of a space in step time, cost and memory.
#pragma once

#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// A plan is beaten by one that takes no longer, costs no more and comes no closer to a device's
// capacity, and is better in one of these. Returns the plans that are not beaten, sorted by step
// time, then cost; of plans that are equal in all three, the first in the order of the search.
// SearchResult::is_optimal says that no plan of the space is missing: a plan that was not evaluated
// is beaten or equalled even at its bounds. If the budget ends the search early, is_optimal is
// false, and the plans returned are those that no other plan evaluated so far beats; `bound` is the
// least step time that a remaining plan may have.
//
// The problem's objective must be kStepTime, and SearchOptions::top does not limit the result. A
// plan is simulated only if its memory, too, leaves it unbeaten. Runs on all cores; without a
// budget of seconds the answer is the same on any number of cores.
SearchResult SearchPareto(const SearchProblem& problem, PlanSpace& space,
                          const SearchOptions& options);

}  // namespace stagecraft
