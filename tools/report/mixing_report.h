// Reports whether it pays to mix GPU types, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "search/mixing.h"
#include "search/problem.h"

namespace stagecraft {

// Returns whether the best plan uses several GPU types and is better than every best plan on fewer
// of them: by its score or, if that is the step time, by step time x cost.
bool IsWorthMixing(const SearchProblem& problem, const Mixing& mixing);

// Returns one line: "worth it by time x cost: 64 x A100 alone take 30.0 % longer at 9.0 % less
// cost".
std::string MixingSentence(const SearchProblem& problem, const Mixing& mixing);

// Returns the keys of `explanation.mixing` in docs/json.md, `search`.
nlohmann::ordered_json MixingToJson(const SearchProblem& problem, const Mixing& mixing);
// Prints the best plan on each combination of GPU types, and the sentence.
void PrintMixing(const SearchProblem& problem, const Mixing& mixing, std::ostream& out);

}  // namespace stagecraft
