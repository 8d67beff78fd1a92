// ErrorSummary: how far predictions are from measurements.
#pragma once

#include <span>

namespace stagecraft {

struct JudgedTime {
  int sample = 0;  // which sample; with calibration each is predicted once for each draw
  double predicted_seconds = 0;
  double measured_seconds = 0;  // > 0
  double spread = 0;            // sigma of log(predicted)
};

// Errors as shares, not in percent.
struct ErrorSummary {
  int rows = 0;  // distinct samples
  double mape = 0;
  double median_ape = 0;
  double p90_ape = 0;
  double bias = 0;                 // mean of log(predicted / measured)
  double interval80_coverage = 0;  // how often the 80 % interval holds the measured time
};

// All fields are zero if there are no times.
ErrorSummary SummariseErrors(std::span<const JudgedTime> times);

// Adds `share` times the errors of a group to a mean over groups, and adds its rows.
void AddShare(const ErrorSummary& group, double share, ErrorSummary& mean);

}  // namespace stagecraft
