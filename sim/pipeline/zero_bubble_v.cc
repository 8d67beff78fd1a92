#include <algorithm>
#include <optional>

#include "costmodel/check.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/zero_bubble.h"
#include "sim/pipeline/zero_bubble_v_greedy.h"

namespace stagecraft {
namespace {

struct Candidate {
  Duration longest_stage;
  PipelineOrders orders;
};

// Runs that expect the bubbles of the one before, while that makes them smaller.
std::optional<ZeroBubbleVGreedy::Result> RunRepeatedly(ZeroBubbleVGreedy& greedy,
                                                       const VFillRules& rules) {
  std::optional<ZeroBubbleVGreedy::Result> best = greedy.Run(rules, {});
  while (best.has_value()) {
    std::optional<ZeroBubbleVGreedy::Result> next = greedy.Run(rules, best->bubbles);
    if (!next.has_value() || next->LargestBubble() >= best->LargestBubble()) break;
    best = std::move(next);
  }
  return best;
}

}  // namespace

PipelineOrders ZeroBubbleVOrders(const PipelineCosts& costs, int micro_batches,
                                 const PassMemory& memory) {
  const int stages = static_cast<int>(costs.times.size());
  const ChunkMap map = ChunkMap::Wave(stages, 2);
  // Orders for equal times too: with these no stage runs out of memory, and now and then
  // they are the better ones.
  const PipelineCosts equal = UniformCosts(stages, 2, {1_us, 1_us, 1_us}, Duration());
  std::optional<Candidate> best;
  for (const PipelineCosts* assumed : {&costs, &equal}) {
    ZeroBubbleVGreedy greedy(*assumed, micro_batches, memory,
                             2 * stages * std::max(memory.after_forward, memory.after_input));
    for (const bool fills_backwards : {true, false}) {
      for (const bool fills_forwards : {true, false}) {
        auto result = RunRepeatedly(greedy, {fills_forwards, fills_backwards});
        if (!result.has_value()) continue;
        const Duration longest =
            TimeOrders(map, result->orders, micro_batches, costs).LongestStage();
        if (best.has_value() && longest >= best->longest_stage) continue;
        best = {longest, std::move(result->orders)};
      }
    }
  }
  CHECK(best.has_value());  // equal times always come to an end
  return std::move(best->orders);
}

}  // namespace stagecraft
