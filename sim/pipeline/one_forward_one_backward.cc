#include <algorithm>

#include "sim/pipeline/pass_order.h"

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

PassOrder PairedOneForwardOneBackwardOrder(int stage, int stages, int micro_batches) {
  const int warmup = 2 * (stages - stage - 1) + 1;
  PassOrder order = OneForwardOneBackwardOrder(warmup, micro_batches);
  PairPasses(static_cast<size_t>(warmup), order);
  return order;
}

void PairPasses(size_t warmup, PassOrder& order) {
  for (size_t i = warmup; i + 1 < order.size(); ++i) {
    order[i].beside_next = order[i].phase == Phase::kForward && IsBackward(order[i + 1].phase);
  }
}

PassOrder OneForwardOneBackwardOrder(int window, const MicroBatchShares& shares, int replica) {
  const int count = shares.Count(replica);
  PassOrder order;
  order.reserve(2 * static_cast<size_t>(count));
  int next = 0;
  for (int own = 0; own < count; ++own) {
    const int end = shares.MicroBatch(replica, own) + window;
    while (next < count && shares.MicroBatch(replica, next) < end) {
      order.push_back({Phase::kForward, 0, next++});
    }
    order.push_back({Phase::kBackward, 0, own});
  }
  return order;
}

int DappleWarmup(int stage, int stages, int most_in_flight, WarmupPolicy policy) {
  const int left = stages - stage;
  const int in_flight = policy == WarmupPolicy::kA ? left : 2 * left - 1;
  return std::min(in_flight, most_in_flight) - 1;
}

}  // namespace stagecraft
