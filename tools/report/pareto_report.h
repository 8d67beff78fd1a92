// The plans that none beats in step time, cost and memory at once, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "search/plans/plan_search.h"
#include "search/problem.h"

namespace stagecraft {

// The keys of docs/json.md, search, of `--objective pareto`.
nlohmann::ordered_json ParetoToJson(const SearchProblem& problem, const PlanRun& run);

// The same for people: at most 110 columns wide.
void PrintPareto(const SearchProblem& problem, const PlanRun& run, std::ostream& out);

}  // namespace stagecraft
