// What a search found, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "search/plans/plan_search.h"
#include "search/problem.h"

namespace stagecraft {

// The keys of README, "search --json".
nlohmann::ordered_json SearchToJson(const SearchProblem& problem, const PlanRun& run);

// The same for people: at most 100 columns wide.
void PrintSearch(const SearchProblem& problem, const PlanRun& run, std::ostream& out);

// Several algorithms on one problem: `algorithms`, `curves` by name, and the best plan.
nlohmann::ordered_json ComparisonToJson(const SearchProblem& problem,
                                        const std::vector<PlanRun>& runs);

// The same as a table.
void PrintComparison(const SearchProblem& problem, const std::vector<PlanRun>& runs,
                     std::ostream& out);

// The first of the runs whose best plan none beats; the first of all where none found one.
const PlanRun& BestRun(const std::vector<PlanRun>& runs);

}  // namespace stagecraft
