#include "tools/train/run_time_unit.h"

#include <cstddef>
#include <iterator>

namespace stagecraft {

TimeUnit UnitFor(Duration most) {
  constexpr TimeUnit kUnits[] = {
      {"days", "d", 86400}, {"hours", "h", 3600}, {"minutes", "min", 60}};
  constexpr double kLeast[] = {10, 2, 2};
  for (size_t i = 0; i < std::size(kUnits); ++i) {
    if (most.seconds() >= kLeast[i] * kUnits[i].seconds) return kUnits[i];
  }
  return {"seconds", "s", 1};
}

const char* CauseOf(PhaseKind kind) {
  return kind == PhaseKind::kComputing ? "slower steps" : Name(kind);
}

}  // namespace stagecraft
