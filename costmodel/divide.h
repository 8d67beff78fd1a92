// Division of whole numbers that rounds up, for shares that are padded.
#pragma once

#include <cstdint>

namespace stagecraft {

// Returns a / b, rounded up. Precondition: a >= 0 and b > 0.
constexpr int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace stagecraft
