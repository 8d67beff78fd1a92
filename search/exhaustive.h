// Branch and bound over the plans of a space, best bound first; its answer is proven.
#pragma once

#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// Enumerates and evaluates plans from the least bound upwards until no other plan can score less
// than the worst plan to be returned. At first only plans with the usual pipeline schedules are
// evaluated, until more of them hardly help: so a search with further schedules to choose from
// finds, on the same budget, no worse plan than one without them. Then schedules take turns, each
// by its own bounds. A plan that the memory bound rules out is never evaluated. Plans are evaluated
// side by side, in waves; the first wave is evaluated whatever the budget. FindErrors() of the
// problem must be empty. Runs on all cores; without a budget of seconds the answer is the same on
// any number of cores.
//
// Cost: a bound for each of n enumerated plans, n log n to order them, and an evaluation for those
// whose bound is below the answer.
SearchResult SearchExhaustively(const SearchProblem& problem, PlanSpace& space,
                                const SearchOptions& options);

}  // namespace stagecraft
