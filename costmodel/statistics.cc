#include "costmodel/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "costmodel/check.h"

namespace stagecraft {

double Mean(const std::vector<double>& values) {
  CHECK(!values.empty());
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

double Median(std::vector<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double Sigma(const std::vector<double>& values) {
  CHECK(values.size() >= 2);
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace stagecraft
