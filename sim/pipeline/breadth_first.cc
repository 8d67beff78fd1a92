#include "sim/pipeline/pass_order.h"

namespace stagecraft {

PassOrder BreadthFirstOrder(int chunks, int micro_batches) {
  PassOrder order;
  order.reserve(2 * static_cast<size_t>(chunks) * static_cast<size_t>(micro_batches));
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (int b = 0; b < micro_batches; ++b) {
      order.push_back({Phase::kForward, static_cast<int16_t>(chunk), b});
    }
  }
  for (size_t i = order.size(); i-- > 0;) {
    order.push_back({Phase::kBackward, order[i].chunk, order[i].micro_batch});
  }
  return order;
}

}  // namespace stagecraft
