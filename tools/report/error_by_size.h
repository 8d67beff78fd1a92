// Errors of predictions, grouped by how long the ops took when they were measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/experiment.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Errors over the rows of one op and model whose measured times lie in one decade.
struct SizeError {
  std::string op;
  ModelKind model = ModelKind::kShipped;
  int decade = 0;   // 0: below 10 us, 1: from 10 to 100 us, ...
  int rows = 0;     // samples; one that several draws of a calibration predict counts once
  double mape = 0;  // a share, not percent
  double bias = 0;  // the mean of log(predicted / measured)
};

// Returns the errors in order of op, model and decade; decades without rows are left out.
std::vector<SizeError> ErrorsBySize(std::span<const Sample> samples, const Experiment& experiment);

// The time at which a decade begins, in microseconds; decade 0 begins at 0.
double DecadeBegin(int decade);
// The name of a decade in reports: "<10 us", "10-100 us", "1-10 ms".
std::string DecadeName(int decade);

}  // namespace stagecraft
