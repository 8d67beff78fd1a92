// FitConstants: the constants of a structured time, by robust least squares.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

// One op on one device and the log of what it took.
struct FitRow {
  const Op* op = nullptr;
  const Device* device = nullptr;
  double log_seconds = 0;
};

// The rows of each board, by its id.
std::map<std::string, std::vector<FitRow>> ByBoard(std::span<const FitRow> rows);

// At most `most` rows, evenly spread over the given ones.
std::vector<FitRow> Thin(std::span<const FitRow> rows, size_t most);

// Minimises the sum of soft-L1 losses (scale 0.15) of log(structured / measured)
// and of 0.3 times the squares of how many sigmas each constant is from its start;
// none goes beyond four. Constants that are not fitted stay. At most 8,000 rows
// are looked at, evenly drawn; every board counts alike. In the logarithms of the
// constants, by FitRobustly(). `start` has one above 0 for each of the family's.
std::vector<double> FitConstants(const KernelFamily& family, std::span<const double> start,
                                 std::span<const FitRow> rows);

}  // namespace stagecraft
