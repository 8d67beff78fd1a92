// RatioErrors: errors of predicted times and sizes, from the ratios of predicted to measured ones.
#pragma once

#include <optional>
#include <span>

#include "tools/validation/error_table.h"

namespace stagecraft {

// In percent of the measured value.
struct RatioErrors {
  int rows = 0;
  double mape = 0;
  double bias = 0;  // mean of (predicted - measured) / measured
  // MAPE if all predictions are multiplied by one factor, which makes their median right: what is
  // left is not the level.
  double mape_factored = 0;
  // How often the 80 % interval holds, over the rows that have one; no value if none has.
  std::optional<double> interval80_coverage;
};

// Returns predicted over measured value, or measured over predicted for rates, which count as
// times. Precondition: the row has a prediction.
double RatioOf(const ValidatedRow& row);

// Preconditions: at least one row, and all have predictions.
RatioErrors SummarizeRatios(std::span<const ValidatedRow* const> rows);

}  // namespace stagecraft
