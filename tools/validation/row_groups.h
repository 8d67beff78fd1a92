// RowGroup: rows of a validation that have something in common, and their errors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/validation/error_table.h"
#include "tools/validation/ratio_errors.h"

namespace stagecraft {

// The property by which rows are divided into groups. It is the class of work (class_errors.h), the
// table that they are from, the GPU type, the number of GPUs, the precision together with the
// training stack, the mechanism to which most of the prediction is due (main_part.h), or the
// metric.
enum class Grouping { kClass, kTable, kGpu, kScale, kStack, kMechanism, kMetric };
inline constexpr Grouping kGroupings[] = {Grouping::kClass, Grouping::kTable, Grouping::kGpu,
                                          Grouping::kScale, Grouping::kStack, Grouping::kMechanism,
                                          Grouping::kMetric};
// Returns "class of work", "table", "GPU type" and so on.
const char* Name(Grouping by);

struct RowGroup {
  std::string name;       // "h100-sxm5-80gb", "9-64"
  std::vector<int> rows;  // ascending indices
  RatioErrors errors;
};

// Returns the groups that have rows; each row is in one of them. Tables are in order of first
// appearance, numbers of GPUs and classes from the first one on, others by name. Precondition: all
// rows have predictions.
std::vector<RowGroup> GroupRows(std::span<const ValidatedRow* const> rows, Grouping by);

// Returns the number of GPUs that the row states or that follows from its degrees.
int64_t GpusOf(const MeasuredRow& row);

}  // namespace stagecraft
