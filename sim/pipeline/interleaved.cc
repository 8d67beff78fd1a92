#include <algorithm>

#include "costmodel/check.h"
#include "sim/pipeline/order.h"

namespace stagecraft {
namespace {

// The k-th forward of a stage: groups of `stages` micro-batches go through one
// chunk after another. Backwards take the chunks from the last to the first.
Pass ForwardPass(int k, int stages, int chunks) {
  const int in_group = k % (stages * chunks);
  return {Phase::kForward, static_cast<int16_t>(in_group / stages),
          k / (stages * chunks) * stages + k % stages};
}

Pass BackwardPass(int k, int stages, int chunks) {
  Pass pass = ForwardPass(k, stages, chunks);
  pass.phase = Phase::kBackward;
  pass.chunk = static_cast<int16_t>(chunks - 1 - pass.chunk);
  return pass;
}

}  // namespace

PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           FewMicroBatches few) {
  CHECK(micro_batches % stages == 0);
  const int total = micro_batches * chunks;
  int warmup = 2 * (stages - stage - 1) + (chunks - 1) * stages;
  if (micro_batches == stages && few == FewMicroBatches::kAllForward) warmup = total;
  warmup = std::min(warmup, total);

  PassOrder order;
  order.reserve(2 * total);
  for (int k = 0; k < warmup; ++k) order.push_back(ForwardPass(k, stages, chunks));
  for (int k = 0; k < total; ++k) {
    if (warmup + k < total) order.push_back(ForwardPass(warmup + k, stages, chunks));
    order.push_back(BackwardPass(k, stages, chunks));
  }
  return order;
}

}  // namespace stagecraft
