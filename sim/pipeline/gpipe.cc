#include "sim/pipeline/pass_order.h"

namespace stagecraft {

PassOrder GpipeOrder(int micro_batches) {
  PassOrder order;
  order.reserve(2 * micro_batches);
  for (int m = 0; m < micro_batches; ++m) order.push_back({Phase::kForward, 0, m});
  for (int m = micro_batches - 1; m >= 0; --m) order.push_back({Phase::kBackward, 0, m});
  return order;
}

}  // namespace stagecraft
