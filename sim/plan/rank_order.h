// Rank orders: "tp-cp-ep-dp-pp" names the dimensions that a plan divides devices
// by, those of neighbouring ranks first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

inline constexpr const char* kDefaultRankOrder = "tp-cp-ep-dp-pp";
// The stages of a replica are neighbours, in place of the replicas of a stage.
inline constexpr const char* kStagesFirstRankOrder = "tp-cp-ep-pp-dp";

// The dimensions in the order that the text names them; nothing unless it is each
// of tp, cp, ep, dp and pp once, joined by '-'.
std::optional<std::vector<std::string>> ParseRankOrder(std::string_view text);

// For what is none: 'got "tp-pp", want tp, ... once each'.
std::string RankOrderProblem(std::string_view text);

}  // namespace stagecraft
