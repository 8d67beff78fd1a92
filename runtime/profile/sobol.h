// SobolPoint: points that fill a cube evenly, however many of them are taken.
#pragma once

#include <array>
#include <cstdint>

namespace stagecraft {

inline constexpr int kSobolDimensions = 5;

// Returns a point of Sobol's sequence (1967) with the direction numbers of Joe and Kuo,
// "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput.
// 2008. Coordinates are in [0, 1); `index` 0 is the origin.
std::array<double, kSobolDimensions> SobolPoint(uint32_t index);

}  // namespace stagecraft
