#include "sim/plan/rank_order.h"

#include <fmt/core.h>

#include <algorithm>

namespace stagecraft {

std::optional<std::vector<std::string>> ParseRankOrder(std::string_view text) {
  std::vector<std::string> dimensions(1);
  for (const char c : text) {
    if (c == '-') {
      dimensions.emplace_back();
    } else {
      dimensions.back() += c;
    }
  }
  std::vector<std::string> sorted = dimensions;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != std::vector<std::string>{"cp", "dp", "ep", "pp", "tp"}) return std::nullopt;
  return dimensions;
}

std::string RankOrderProblem(std::string_view text) {
  return fmt::format("got \"{}\", want tp, cp, ep, dp and pp once each, joined by '-'", text);
}

}  // namespace stagecraft
