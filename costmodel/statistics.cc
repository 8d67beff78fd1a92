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

namespace {

// Returns the value that would be at `index` if the values were sorted.
double Nth(std::vector<double>& values, size_t index) {
  CHECK(index < values.size());
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

double Median(std::vector<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double UpperMedian(std::vector<double> values) { return Nth(values, values.size() / 2); }

double InterpolatedQuantile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double LowerQuantile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  return Nth(values, static_cast<size_t>(share * static_cast<double>(values.size() - 1)));
}

double UpperQuantile(std::vector<double> values, double share) {
  return Nth(values, static_cast<size_t>(share * static_cast<double>(values.size())));
}

double NearestRankQuantile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  const double rank = std::max(1.0, std::ceil(share * static_cast<double>(values.size())));
  return Nth(values, static_cast<size_t>(rank) - 1);
}

double Sigma(const std::vector<double>& values) {
  CHECK(values.size() >= 2);
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace stagecraft
