#include "tools/recorded/own_words.h"

namespace stagecraft {

std::optional<Phase> FindPhase(std::string_view name) {
  for (int i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (name == Name(phase)) return phase;
  }
  return {};
}

std::optional<LaneKind> FindLaneKind(std::string_view name) {
  constexpr int kKinds = static_cast<int>(LaneKind::kExpert) + 1;
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<LaneKind>(i);
    if (name == Name(kind)) return kind;
  }
  return {};
}

}  // namespace stagecraft
