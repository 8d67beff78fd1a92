// Why a search answers what it answers, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "search/explanation.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

// The keys of docs/json.md, search, `explanation`; `seconds` is what it took.
nlohmann::ordered_json ExplanationToJson(const SearchProblem& problem, const SearchResult& result,
                                         const SearchExplanation& explanation, double seconds);

// The same for people.
void PrintExplanation(const SearchProblem& problem, const SearchResult& result,
                      const SearchExplanation& explanation, double seconds, std::ostream& out);

}  // namespace stagecraft
