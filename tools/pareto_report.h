// The plans that none beats in step time, cost and memory at once, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// The keys of README, "search --json", of `--objective pareto`; `seconds` is what the
// search took.
nlohmann::ordered_json ParetoToJson(const SearchProblem& problem, const SearchResult& result,
                                    double seconds);

// The same for people: at most 110 columns wide.
void PrintPareto(const SearchProblem& problem, const SearchResult& result, double seconds,
                 std::ostream& out);

}  // namespace stagecraft
