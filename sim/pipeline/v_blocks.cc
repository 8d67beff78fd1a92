#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "costmodel/check.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/zero_bubble.h"

namespace stagecraft {
namespace {

// Every stage runs two forwards, two input gradients and two weight gradients per micro-batch.
constexpr int kSlotsPerBlock = 6;

// The slots in which the block of micro-batch 0 has the passes of a stage: the forwards of chunks 0
// and 1, then the input gradients of chunks 1 and 0.
using BlockSlots = std::array<int, 4>;
constexpr std::array<Pass, 4> kBlockPasses = {{{Phase::kForward, 0, 0},
                                               {Phase::kForward, 1, 0},
                                               {Phase::kBackwardInput, 1, 0},
                                               {Phase::kBackwardInput, 0, 0}}};

// Returns the passes of all blocks in the order of their slots. Weight gradients, in the order of
// their input gradients, take the first slots that are free.
PassOrder RepeatedBlocks(const BlockSlots& slots, int micro_batches) {
  std::vector<Pass> timeline(static_cast<size_t>(slots[3] + kSlotsPerBlock * micro_batches));
  std::vector<bool> is_taken(timeline.size(), false);
  for (size_t i = 0; i < slots.size(); ++i) {
    for (int m = 0; m < micro_batches; ++m) {
      const size_t slot = static_cast<size_t>(slots[i] + kSlotsPerBlock * m);
      timeline[slot] = kBlockPasses[i];
      timeline[slot].micro_batch = m;
      is_taken[slot] = true;
    }
  }
  PassOrder order;
  std::vector<Pass> pending;  // all weight gradients so far
  size_t done = 0;            // those that have run
  for (size_t slot = 0; slot < timeline.size(); ++slot) {
    if (is_taken[slot]) {
      const Pass& pass = timeline[slot];
      order.push_back(pass);
      if (pass.phase == Phase::kBackwardInput) {
        pending.push_back({Phase::kBackwardWeight, pass.chunk, pass.micro_batch});
      }
    } else if (done < pending.size()) {
      order.push_back(pending[done++]);
    }
  }
  order.insert(order.end(), pending.begin() + static_cast<ptrdiff_t>(done), pending.end());
  return order;
}

// Returns the slots of a stage's block.
using BlocksOfStage = std::function<BlockSlots(int stage)>;
PassOrders BlockOrders(int stages, int micro_batches, const BlocksOfStage& slots) {
  PassOrders orders;
  for (int s = 0; s < stages; ++s) orders.push_back(RepeatedBlocks(slots(s), micro_batches));
  return orders;
}

// Returns where the passes after the last forward begin.
PassOrder::iterator Drain(PassOrder& order) {
  const auto is_forward = [](const Pass& pass) { return pass.phase == Phase::kForward; };
  return std::find_if(order.rbegin(), order.rend(), is_forward).base();
}

// Appends `drain`, whose passes run at `spans`, from `clock` on. Its idle slots get weight
// gradients, one per slot; those that belong to a pass of the drain come after it.
void AppendWithWeights(const PassOrder& drain, std::span<const PassSpan> spans, Duration clock,
                       const PassOrder& weights, PassOrder& order) {
  size_t done = 0;
  size_t ready = weights.size() - drain.size();  // the last ones belong to the drain
  for (size_t i = 0; i < drain.size(); ++i, ++ready) {
    for (; clock < spans[i].start && done < ready; clock += 1_ns) order.push_back(weights[done++]);
    order.push_back(drain[i]);
    clock = spans[i].end;
  }
  order.insert(order.end(), weights.begin() + static_cast<ptrdiff_t>(done), weights.end());
}

// After its last forward a stage runs weight gradients only while it would otherwise wait, one per
// slot, because other stages wait for its input gradients.
void PostponeLastWeights(PassOrders& orders, int micro_batches) {
  const int stages = static_cast<int>(orders.size());
  std::vector<PassOrder> weights;
  for (PassOrder& order : orders) {
    const auto first = std::stable_partition(Drain(order), order.end(), [](const Pass& pass) {
      return pass.phase != Phase::kBackwardWeight;
    });
    weights.emplace_back(first, order.end());
    order.erase(first, order.end());
  }
  const OrderTimes times = TimeOrders(ChunkMap::Wave(stages, 2), orders, micro_batches,
                                      UniformCosts(stages, 2, {1_ns, 1_ns, 1_ns}, Duration()));
  for (size_t s = 0; s < orders.size(); ++s) {
    PassOrder& order = orders[s];
    const PassOrder drain(Drain(order), order.end());
    order.resize(order.size() - drain.size());
    const std::span<const PassSpan> spans(times.passes[s]);
    AppendWithWeights(drain, spans.subspan(order.size()), spans[order.size() - 1].end, weights[s],
                      order);
  }
}

}  // namespace

// The slots are those of the authors' code (sail-sg/zero-bubble-pipeline-parallelism). `shift`
// prevents the blocks of successive micro-batches from using the same slot.

PassOrders VHalfOrders(int stages, int micro_batches) {
  const int p = stages;
  const int shift = p % 2 == 0 ? 3 : 0;
  const auto slots = [p, shift](int s) {
    return BlockSlots{2 * s, 3 * p - s - 2, 3 * p + shift + 2 * s - 1, 6 * p + shift - s - 2};
  };
  // A micro-batch takes p + 1 blocks to pass, so the ends of longer runs look like those of this
  // one.
  const int timed = std::min(micro_batches, 4 * p);
  PassOrders ends = BlockOrders(p, timed, slots);
  PostponeLastWeights(ends, timed);
  if (timed == micro_batches) return ends;
  PassOrders orders = BlockOrders(p, micro_batches, slots);
  for (size_t s = 0; s < orders.size(); ++s) {
    auto pass = Drain(orders[s]);
    const auto end = Drain(ends[s]);
    CHECK(orders[s].end() - pass == ends[s].end() - end);
    for (auto from = end; from != ends[s].end(); ++from, ++pass) {
      *pass = *from;
      pass->micro_batch += micro_batches - timed;
    }
  }
  return orders;
}

PassOrders VMinOrders(int stages, int micro_batches) {
  const int p = stages;
  const int shift = p % 3 == 0 ? 2 : 0;
  return BlockOrders(p, micro_batches, [p, shift](int s) {
    return BlockSlots{s, 2 * p - s - 1, 2 * p + shift + s, 4 * p + shift - s - 1};
  });
}

}  // namespace stagecraft
