// The largest numbers that a plan may hold: products of three degrees, and of a
// batch and a degree, stay within 64 bits.
#pragma once

#include <cstdint>

namespace stagecraft {

inline constexpr int64_t kMostOfADegree = 1'000'000;
inline constexpr int64_t kMostOfABatch = 1'000'000'000;  // samples, or tokens of one
inline constexpr int64_t kMostBucketBytes = 1'000'000'000;

}  // namespace stagecraft
