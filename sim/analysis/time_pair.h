// TimePair: one time as predicted and as measured, and how wrong the prediction is.
#pragma once

#include <algorithm>
#include <optional>

#include "costmodel/units.h"

namespace stagecraft {

struct TimePair {
  Duration predicted, measured;

  // (predicted - measured) / measured; no value if nothing was measured.
  std::optional<double> Error() const {
    if (measured <= Duration()) return {};
    return predicted.seconds() / measured.seconds() - 1;
  }
  Duration Difference() const { return predicted - measured; }
  Duration AbsoluteDifference() const { return std::max(Difference(), measured - predicted); }
};

}  // namespace stagecraft
