// Rank orders: "tp-cp-ep-dp-pp" names the dimensions by which a plan divides devices, those of
// neighbouring ranks first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

inline constexpr const char* kDefaultRankOrder = "tp-cp-ep-dp-pp";
// With this order the stages of a replica are neighbours, instead of the replicas of a stage.
inline constexpr const char* kStagesFirstRankOrder = "tp-cp-ep-pp-dp";

// The dimensions in the order in which the text names them; no value unless it has each of tp, cp,
// ep, dp and pp once, joined by '-'.
std::optional<std::vector<std::string>> ParseRankOrder(std::string_view text);

// Describes what is wrong with another text: 'got "tp-pp", want tp, ... once each'.
std::string RankOrderProblem(std::string_view text);

}  // namespace stagecraft
