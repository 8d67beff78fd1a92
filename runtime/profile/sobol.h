// Points that fill a cube evenly: no two of the first n lie close together.
#pragma once

#include <array>
#include <cstdint>

namespace stagecraft {

inline constexpr int kSobolDimensions = 5;

// Sobol's sequence (1967) with the direction numbers of Joe and Kuo, "Constructing
// Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 2008.
// Coordinates in [0, 1). `index` 0 is the origin.
std::array<double, kSobolDimensions> SobolPoint(uint32_t index);

}  // namespace stagecraft
