// Division of whole numbers that rounds up: shares that are padded.
#pragma once

#include <cstdint>

namespace stagecraft {

// a >= 0, b > 0.
constexpr int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace stagecraft
