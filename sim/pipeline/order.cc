#include "sim/pipeline/order.h"

#include <algorithm>

namespace stagecraft {

int PeakInFlight(const PassOrder& order) {
  int in_flight = 0;
  int peak = 0;
  for (const Pass& pass : order) {
    in_flight += pass.phase == Phase::kForward ? 1 : -1;
    peak = std::max(peak, in_flight);
  }
  return peak;
}

}  // namespace stagecraft
