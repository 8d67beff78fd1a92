#include "runtime/profile/op_timer.h"

#include <algorithm>

namespace stagecraft {

DeviceState Together(const DeviceState& a, const DeviceState& b) {
  DeviceState both = {.clock_hz = std::min(a.clock_hz, b.clock_hz),
                      .celsius = std::max(a.celsius, b.celsius),
                      .watts = std::max(a.watts, b.watts),
                      .is_throttled = a.is_throttled};
  // Being throttled takes precedence over not being known, and that over not being throttled.
  if (b.is_throttled == true || a.is_throttled == false) both.is_throttled = b.is_throttled;
  return both;
}

}  // namespace stagecraft
