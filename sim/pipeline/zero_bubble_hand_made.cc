#include <algorithm>

#include "sim/pipeline/zero_bubble.h"

namespace stagecraft {
namespace {

enum class Refill { kBeforeWeights, kAfterWeights };

// Runs `warmup` forwards, then in turn one backward, the weight gradients of the backward `delay`
// backwards ago, and one more forward; at the end the remaining weight gradients.
PassOrder DelayedWeightsOrder(int warmup, int delay, Refill refill, int micro_batches) {
  warmup = std::min(warmup, micro_batches);
  PassOrder order;
  order.reserve(3 * static_cast<size_t>(micro_batches));
  for (int m = 0; m < warmup; ++m) order.push_back({Phase::kForward, 0, m});
  for (int m = 0; m < micro_batches; ++m) {
    const Pass forward = {Phase::kForward, 0, warmup + m};
    const bool refills = forward.micro_batch < micro_batches;
    order.push_back({Phase::kBackwardInput, 0, m});
    if (refills && refill == Refill::kBeforeWeights) order.push_back(forward);
    if (m >= delay) order.push_back({Phase::kBackwardWeight, 0, m - delay});
    if (refills && refill == Refill::kAfterWeights) order.push_back(forward);
  }
  for (int m = std::max(micro_batches - delay, 0); m < micro_batches; ++m) {
    order.push_back({Phase::kBackwardWeight, 0, m});
  }
  return order;
}

}  // namespace

PassOrder ZeroBubbleH1Order(int stage, int stages, int micro_batches) {
  return DelayedWeightsOrder(stages - stage, stage, Refill::kAfterWeights, micro_batches);
}

PassOrder ZeroBubbleH2Order(int stage, int stages, int micro_batches) {
  return DelayedWeightsOrder(2 * (stages - stage) - 1, 2 * stage, Refill::kBeforeWeights,
                             micro_batches);
}

}  // namespace stagecraft
