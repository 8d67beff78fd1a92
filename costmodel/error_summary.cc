#include "costmodel/error_summary.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/statistics.h"

namespace stagecraft {

ErrorSummary SummariseErrors(std::span<const JudgedTime> times) {
  ErrorSummary summary;
  const double count = static_cast<double>(times.size());
  std::set<int> distinct;
  std::vector<double> errors;
  for (const JudgedTime& time : times) {
    const double ratio = std::log(time.predicted_seconds / time.measured_seconds);
    errors.push_back(std::abs(time.predicted_seconds / time.measured_seconds - 1));
    summary.mape += errors.back() / count;
    summary.bias += ratio / count;
    if (std::abs(ratio) <= kSigmas80 * time.spread) summary.interval80_coverage += 1 / count;
    distinct.insert(time.sample);
  }
  summary.rows = static_cast<int>(distinct.size());
  if (errors.empty()) return summary;
  summary.median_ape = UpperMedian(errors);
  summary.p90_ape = LowerQuantile(std::move(errors), 0.9);
  return summary;
}

void AddShare(const ErrorSummary& group, double share, ErrorSummary& mean) {
  mean.rows += group.rows;
  mean.mape += group.mape * share;
  mean.median_ape += group.median_ape * share;
  mean.p90_ape += group.p90_ape * share;
  mean.bias += group.bias * share;
  mean.interval80_coverage += group.interval80_coverage * share;
}

}  // namespace stagecraft
