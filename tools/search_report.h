// What a search found, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// The keys of README, "search --json"; `seconds` is what all of it took.
nlohmann::ordered_json SearchToJson(const SearchProblem& problem, const SearchResult& result,
                                    double seconds);

// The same for people: at most 100 columns wide.
void PrintSearch(const SearchProblem& problem, const SearchResult& result, double seconds,
                 std::ostream& out);

}  // namespace stagecraft
