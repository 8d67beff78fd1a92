// Whether mixing kinds of device pays, in words and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "search/mixing.h"
#include "search/problem.h"

namespace stagecraft {

// The best plan uses several kinds and pays for them: by the score or, where that is the
// step time, by step time x cost beside every choice of fewer kinds.
bool IsWorthMixing(const SearchProblem& problem, const Mixing& mixing);

// One line: "worth it by time x cost: 64 x A100 alone take 30 % longer at 9 % less cost".
std::string MixingSentence(const SearchProblem& problem, const Mixing& mixing);

// The keys of docs/json.md, search, `explanation.mixing`.
nlohmann::ordered_json MixingToJson(const SearchProblem& problem, const Mixing& mixing);
// The best of each choice of kinds, and the sentence.
void PrintMixing(const SearchProblem& problem, const Mixing& mixing, std::ostream& out);

}  // namespace stagecraft
