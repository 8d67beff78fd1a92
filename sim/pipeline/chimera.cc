#include "sim/pipeline/chimera.h"

#include "costmodel/check.h"
#include "sim/pipeline/chunk_map.h"

namespace stagecraft {
namespace {

// Which pass a stage runs in which slot; all slots are equally long. Every pipeline takes a
// micro-batch in every other one of the first slots of a unit, and its last part starts the
// backward at once. No two passes of a stage meet in a slot: because the number of stages is even,
// forwards down and backwards up alternate with forwards up and backwards down; pipelines of the
// same direction are stages / pairs apart.
class SlotTable {
 public:
  SlotTable(int stages, int pairs, ChimeraSlots slots)
      : stages_(stages),
        injections_(stages / (2 * pairs)),
        in_slot_(slots == ChimeraSlots::kTwoForwards ? 2 : 1) {}

  // `index` is the part of the chain, `b` the micro-batch within it.
  size_t Forward(int index, int b) const {
    return UnitStart(b) + static_cast<size_t>(index + 2 * (InUnit(b) / in_slot_));
  }
  // If there are two backwards to a forward slot, the second half of a unit's backwards follows
  // `stages` slots after the first.
  size_t Backward(int index, int b) const {
    const int round = InUnit(b) / injections_;
    const int turn = 2 * stages_ - 1 - index + 2 * (InUnit(b) % injections_);
    return UnitStart(b) + static_cast<size_t>(turn + round * stages_);
  }
  // The number of slots that the stages use.
  size_t End(int micro_batches) const {
    return micro_batches == 0 ? 0 : UnitStart(micro_batches - 1) + 4 * static_cast<size_t>(stages_);
  }
  int in_slot() const { return in_slot_; }

 private:
  int InUnit(int b) const { return b % (in_slot_ * injections_); }
  // A unit keeps every stage busy for `stages` slots of forwards and as many of backwards, or twice
  // as many.
  size_t UnitStart(int b) const {
    const size_t unit = static_cast<size_t>(b / (in_slot_ * injections_));
    return unit * static_cast<size_t>((1 + in_slot_) * stages_);
  }

  int stages_;
  int injections_;  // slots of a unit in which a pipeline takes micro-batches
  int in_slot_;     // micro-batches that it takes in each of them
};

// The passes of all slots in order. A slot holds one backward, or up to two forwards.
class SlotOrder {
 public:
  explicit SlotOrder(size_t slots) : passes_(2 * slots, Pass{Phase::kForward, 0, -1}) {}

  void Put(size_t slot, int place, const Pass& pass) {
    Pass& entry = passes_[2 * slot + static_cast<size_t>(place)];
    CHECK(entry.micro_batch < 0);
    entry = pass;
  }
  PassOrder Passes() const {
    PassOrder order;
    for (const Pass& pass : passes_) {
      if (pass.micro_batch >= 0) order.push_back(pass);
    }
    return order;
  }

 private:
  PassOrder passes_;
};

}  // namespace

PassOrders ChimeraOrders(int stages, int pairs, int micro_batches, ChimeraSlots slots) {
  CHECK(stages % (2 * pairs) == 0);
  const ChunkMap map = ChunkMap::Bidirectional(stages, pairs);
  const SlotTable table(stages, pairs, slots);
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    SlotOrder order(table.End(map.MicroBatches(0, micro_batches)));
    for (int chain = 0; chain < map.chains(); ++chain) {
      const int index = map.PartAt({stage, chain}).index;
      const int16_t chunk = static_cast<int16_t>(chain);
      for (int b = 0; b < map.MicroBatches(chain, micro_batches); ++b) {
        order.Put(table.Forward(index, b), b % table.in_slot(), {Phase::kForward, chunk, b});
        order.Put(table.Backward(index, b), 0, {Phase::kBackward, chunk, b});
      }
    }
    orders.push_back(order.Passes());
  }
  return orders;
}

}  // namespace stagecraft
