// Reports why a search came to its answer, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "search/explanation.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// Returns the keys of `explanation` in docs/json.md, `search`. `seconds` is the time that the
// explanation took.
nlohmann::ordered_json ExplanationToJson(const SearchProblem& problem, const SearchResult& result,
                                         const SearchExplanation& explanation, double seconds);

// Prints the same as text.
void PrintExplanation(const SearchProblem& problem, const SearchResult& result,
                      const SearchExplanation& explanation, double seconds, std::ostream& out);

}  // namespace stagecraft
