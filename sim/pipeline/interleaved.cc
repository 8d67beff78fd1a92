#include <algorithm>

#include "costmodel/check.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {
namespace {

// The forwards of a stage: group after group, each through one chunk after another.
struct ForwardTable {
  std::vector<Pass> passes;
  int largest_group = 0;
};

ForwardTable MakeForwardTable(int stages, int chunks, int micro_batches, int size) {
  ForwardTable table;
  table.passes.reserve(static_cast<size_t>(chunks) * static_cast<size_t>(micro_batches));
  for (int first = 0; first < micro_batches;) {
    int end = std::min(first + size, micro_batches);
    if (micro_batches - end < stages) end = micro_batches;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int b = first; b < end; ++b) {
        table.passes.push_back({Phase::kForward, static_cast<int16_t>(chunk), b});
      }
    }
    table.largest_group = std::max(table.largest_group, end - first);
    first = end;
  }
  return table;
}

// Returns the backward at the same place of its sequence; backwards take the chunks from the last
// to the first.
Pass BackwardLike(const Pass& forward, int chunks) {
  return {Phase::kBackward, static_cast<int16_t>(chunks - 1 - forward.chunk), forward.micro_batch};
}

PassOrder Alternate(const std::vector<Pass>& forwards, int chunks, size_t warmup) {
  warmup = std::min(warmup, forwards.size());
  PassOrder order(forwards.begin(), forwards.begin() + static_cast<ptrdiff_t>(warmup));
  order.reserve(2 * forwards.size());
  for (size_t k = 0; k < forwards.size(); ++k) {
    if (warmup + k < forwards.size()) order.push_back(forwards[warmup + k]);
    order.push_back(BackwardLike(forwards[k], chunks));
  }
  return order;
}

}  // namespace

PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           FewMicroBatches few) {
  CHECK(micro_batches % stages == 0);
  if (micro_batches == stages && few == FewMicroBatches::kAllForward) {
    const ForwardTable table = MakeForwardTable(stages, chunks, micro_batches, stages);
    return Alternate(table.passes, chunks, table.passes.size());
  }
  return InterleavedOrder(stage, stages, chunks, micro_batches, MicroBatchGroups{stages});
}

PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           const MicroBatchGroups& groups) {
  CHECK(groups.size >= stages);
  CHECK(groups.one_more_warmup || !groups.pairs_passes);
  const ForwardTable table = MakeForwardTable(stages, chunks, micro_batches, groups.size);
  const int warmup = 2 * (stages - stage - 1) + (chunks - 1) * table.largest_group +
                     (groups.one_more_warmup ? 1 : 0);
  PassOrder order = Alternate(table.passes, chunks, static_cast<size_t>(warmup));
  if (groups.pairs_passes) PairPasses(static_cast<size_t>(warmup), order);
  return order;
}

}  // namespace stagecraft
