// TimePair: one time as predicted and as measured, and how wrong the prediction is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

struct TimePair {
  Duration predicted, measured;

  // (predicted - measured) / measured; nothing where nothing was measured.
  std::optional<double> Error() const {
    if (measured <= Duration()) return {};
    return predicted.seconds() / measured.seconds() - 1;
  }
  Duration Difference() const { return predicted - measured; }
  Duration AbsoluteDifference() const { return std::max(Difference(), measured - predicted); }
};

// Of an even count the mean of the two in the middle; nothing of none.
inline std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace stagecraft
