// Errors by how long the ops took when they were measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/experiment.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Over the rows of one op whose measured times lie in one decade. Shares, not
// percent; bias is the mean of log(predicted / measured).
struct SizeError {
  std::string op;
  ModelKind model = ModelKind::kShipped;
  int decade = 0;  // 0: below 10 us, 1: from 10 to 100 us, ...
  int rows = 0;    // samples; draws of a calibration count once
  double mape = 0;
  double bias = 0;
};

// By op, model and decade; decades without rows are left out.
std::vector<SizeError> ErrorsBySize(std::span<const Sample> samples, const Experiment& experiment);

// Microseconds at which a decade begins; decade 0 begins at 0.
double DecadeBegin(int decade);
// "<10 us", "10-100 us", "1-10 ms".
std::string DecadeName(int decade);

}  // namespace stagecraft
