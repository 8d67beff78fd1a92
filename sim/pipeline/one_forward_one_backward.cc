#include <algorithm>

#include "sim/pipeline/order.h"

namespace stagecraft {

PassOrder OneForwardOneBackwardOrder(int warmup, int micro_batches) {
  warmup = std::min(warmup, micro_batches);
  PassOrder order;
  order.reserve(2 * micro_batches);
  for (int m = 0; m < warmup; ++m) order.push_back({Phase::kForward, 0, m});
  for (int m = 0; m < micro_batches; ++m) {
    if (warmup + m < micro_batches) order.push_back({Phase::kForward, 0, warmup + m});
    order.push_back({Phase::kBackward, 0, m});
  }
  return order;
}

}  // namespace stagecraft
