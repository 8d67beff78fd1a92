// SearchAsAsked(): the searches that the flags of `search` ask for.
#pragma once

#include <optional>
#include <vector>

#include "search/plan_space.h"
#include "search/plans/plan_search.h"
#include "search/problem.h"
#include "search/solution.h"
#include "tools/flags/search_flags.h"

namespace stagecraft {

// Returns what is left of a budget after these runs; no value if it is used up.
std::optional<Budget> LeftOf(const Budget& budget, const std::vector<PlanRun>& runs);

// Runs all algorithms, the search for all best plans, or one algorithm and, if the job goes beyond
// the plan space, the dynamic programme after it. Plans that the job's training framework cannot
// run are dropped; the obstacle of a run that has none left then says why. Throws an InputError
// that names the flag if no run has any left.
std::vector<PlanRun> SearchAsAsked(const SearchJob& job, const SearchProblem& problem,
                                   PlanSpace& space, const PlanSearchOptions& options);

}  // namespace stagecraft
