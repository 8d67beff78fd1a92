// FitConstants: fits the constants of a structured time by robust least squares.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

// One op on one device, and the logarithm of the time that it took, with its sigma over repeats; 0:
// not known.
struct FitRow {
  const Op* op = nullptr;
  const Device* device = nullptr;
  double log_seconds = 0;
  double spread = 0;
};

// Returns the rows of each GPU type, by its id.
std::map<std::string, std::vector<FitRow>> ByGpu(std::span<const FitRow> rows);

// Returns at most `most` of the rows, evenly spread over them.
std::vector<FitRow> Thin(std::span<const FitRow> rows, size_t most);

// Minimises the sum of soft-L1 losses (scale 0.15) of log(structured / measured), plus 0.3 times
// the squares of how many sigmas each constant is from its start; none moves further than four
// sigmas. Constants that are not fitted stay as they are. At most 8,000 rows, evenly drawn, are
// used; every GPU type has the same weight. The fit is done in the logarithms of the constants, by
// FitRobustly(). `start` has one value above 0 for each constant of the family.
std::vector<double> FitConstants(const KernelFamily& family, std::span<const double> start,
                                 std::span<const FitRow> rows);

}  // namespace stagecraft
