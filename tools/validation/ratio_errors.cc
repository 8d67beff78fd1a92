#include "tools/validation/ratio_errors.h"

#include <cmath>
#include <vector>

#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr double kPercent = 100;

double Mape(const std::vector<double>& ratios, double factor) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::abs(factor * ratio - 1);
  return kPercent * sum / static_cast<double>(ratios.size());
}

}  // namespace

double RatioOf(const ValidatedRow& row) {
  const double ratio = row.prediction.value.value() / row.measured.value;
  return LessIsBetter(row.measured.metric_kind) ? ratio : 1 / ratio;
}

RatioErrors SummarizeRatios(std::span<const ValidatedRow* const> rows) {
  std::vector<double> ratios;
  int intervals = 0, held = 0;
  for (const ValidatedRow* row : rows) {
    ratios.push_back(RatioOf(*row));
    if (const std::optional<bool> is_in = row->is_in_interval()) {
      ++intervals;
      held += *is_in ? 1 : 0;
    }
  }
  RatioErrors errors;
  errors.rows = static_cast<int>(ratios.size());
  errors.mape = Mape(ratios, 1);
  errors.bias = kPercent * (Mean(ratios) - 1);
  errors.mape_factored = Mape(ratios, 1 / InterpolatedQuantile(ratios, 0.5));
  if (intervals > 0) errors.interval80_coverage = kPercent * held / intervals;
  return errors;
}

}  // namespace stagecraft
