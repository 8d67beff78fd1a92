// The largest numbers that a plan may have: products of three degrees, and of a batch and a degree,
// stay within 64 bits.
#pragma once

#include <cstdint>

#include "costmodel/units.h"

namespace stagecraft {

inline constexpr int64_t kMostOfADegree = 1'000'000;
inline constexpr int64_t kMostOfABatch = 1'000'000'000;  // samples, or tokens of one
inline constexpr int64_t kMostLayers = 100'000;          // of a workload
inline constexpr int64_t kMostBucketBytes = 1'000'000'000;
inline constexpr int64_t kMostHostMemory = int64_t{1} << 50;
inline constexpr double kMostActivationLimit = 1e6;
inline constexpr int64_t kMostSteps = 1'000'000'000'000;
inline constexpr Duration kMostTimeout = Duration::Nanoseconds(86'400'000'000'000);  // a day

}  // namespace stagecraft
