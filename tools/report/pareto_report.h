// Reports the plans that no other beats in step time, cost and memory at once, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "search/plans/plan_search.h"
#include "search/problem.h"
#include "sim/step/training_cost.h"
#include "tools/flags/memory_margin.h"

namespace stagecraft {

// Returns the keys that docs/json.md lists for `search --objective pareto`.
nlohmann::ordered_json ParetoToJson(const SearchProblem& problem, const CostQuestion& cost,
                                    const MemoryMargin& margin, const PlanRun& run);

// Prints the same as text, at most 110 characters wide.
void PrintPareto(const SearchProblem& problem, const CostQuestion& cost, const MemoryMargin& margin,
                 const PlanRun& run, std::ostream& out);

}  // namespace stagecraft
