// Division of whole numbers that rounds up, for shares that are padded.
#pragma once

#include <cmath>
#include <cstdint>

namespace stagecraft {

// Returns a / b, rounded up. Precondition: a >= 0 and b > 0.
constexpr int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the share of `count`, rounded up; a tenth of 30 is 3, although 0.1 * 30 is a little more.
// Precondition: count >= 0 and share is in [0, 1].
inline int64_t ShareUp(double share, int64_t count) {
  constexpr double kRounding = 1e-12;
  if (share >= 1) return count;
  const double exact = share * static_cast<double>(count);
  return static_cast<int64_t>(std::ceil(exact * (1 - kRounding)));
}

// Returns `count` rounded up to a multiple of `step`. Precondition: count >= 0 and step > 0.
constexpr int64_t RoundUp(int64_t count, int64_t step) { return DivideUp(count, step) * step; }

}  // namespace stagecraft
