// All plans of a space, best bound first: branch and bound whose answer is proven.
#pragma once

#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// Bounds every candidate, then evaluates them from the least bound upwards until the
// next bound is no less than the worst plan to return. A plan that the bound's memory
// rules out is never evaluated. The problem must have no FindErrors(). Runs on all cores;
// without a budget of seconds the answer is the same on any number of them.
//
// Cost: a bound each, n log n to sort them, and an evaluation for those
// whose bound is below the answer.
SearchResult SearchExhaustively(const SearchProblem& problem, PlanSpace& space,
                                const SearchOptions& options);

}  // namespace stagecraft
