// Reports what a search found, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "search/plans/plan_search.h"
#include "search/problem.h"
#include "search/solution.h"
#include "sim/step/training_cost.h"
#include "tools/flags/memory_margin.h"
#include "tools/report/algorithm_comparison.h"

namespace stagecraft {

// Returns the keys that docs/json.md lists for `search`. The devices of the problem's cluster have
// less memory by the margin.
nlohmann::ordered_json SearchToJson(const SearchProblem& problem, const CostQuestion& cost,
                                    const MemoryMargin& margin, const PlanRun& run);

// Prints what was searched for, how many plans were evaluated and, if none fits, why.
void PrintSearchHead(const SearchProblem& problem, const MemoryMargin& margin, const PlanRun& run,
                     std::ostream& out);

// Prints the same as SearchToJson() as text, at most 110 characters wide.
void PrintSearch(const SearchProblem& problem, const CostQuestion& cost, const MemoryMargin& margin,
                 const PlanRun& run, std::ostream& out);

// If there is a second run, which went beyond the space of the first: prints how much worse the
// best plan of that space is or, if none better was found outside, how many plans were evaluated.
void PrintBeyond(const std::vector<PlanRun>& runs, std::ostream& out);
// Returns {"space", "candidates", "evaluated", "optimal", score, bound} of the run within the
// space.
nlohmann::ordered_json WithinToJson(const SearchProblem& problem, const SearchResult& result);
// Returns {"algorithm", "evaluated", bound, "gap"} of the run beyond the space, which is the second
// one: the bound of all plans, however unequal their stages are, and how much better than the best
// plan one of them may be.
nlohmann::ordered_json BeyondToJson(const SearchProblem& problem, const std::vector<PlanRun>& runs);

// Returns the run that found the best plan, the first one among equals or if none found a plan.
const PlanRun& BestRun(const std::vector<PlanRun>& runs);

// Puts the runs beside each other; `budget` says in words what each was given.
AlgorithmComparison CompareRuns(const SearchProblem& problem, const std::vector<PlanRun>& runs,
                                const std::string& budget);

}  // namespace stagecraft
