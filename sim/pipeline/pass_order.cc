#include "sim/pipeline/pass_order.h"

#include <algorithm>

namespace stagecraft {

int PeakInFlight(const PassOrder& order) {
  int in_flight = 0;
  int peak = 0;
  for (const Pass& pass : order) {
    if (pass.phase == Phase::kForward) ++in_flight;
    if (IsBackward(pass.phase)) --in_flight;
    peak = std::max(peak, in_flight);
  }
  return peak;
}

}  // namespace stagecraft
