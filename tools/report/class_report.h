// Reports a comparison by classes of kernels as JSON and as text.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "sim/analysis/class_comparison.h"
#include "tools/report/comparison_report.h"

namespace stagecraft {

struct ComparedClasses {
  TimelineFile predicted, measured;
  ClassComparison comparison;
};

// Throws InputError if the two cannot be compared: they are of jobs of different sizes, or one has
// no ranks, or only one is of recorded kernels and the other does not hold the times of its ops.
// Precondition: at least one is of recorded kernels.
ComparedClasses CompareByClass(TimelineFile predicted, TimelineFile measured);

// Returns the keys of `compare --json`, with the `top` longest kernels that were never predicted.
nlohmann::ordered_json ToJson(const ComparedClasses& compared, int top);
void PrintClassComparison(const ComparedClasses& compared, int top, std::ostream& out);

}  // namespace stagecraft
