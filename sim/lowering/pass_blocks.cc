#include "sim/lowering/pass_blocks.h"

#include <algorithm>

namespace stagecraft {
namespace {

// In the order in which a pass runs through them.
std::vector<BlockId> BucketBlocks(LoweringContext& context, const LoweredWorker& worker, int chunk,
                                  Phase phase) {
  std::vector<BlockId> blocks;
  for (const Bucket& bucket : context.buckets.Of(worker.stage, chunk)) {
    blocks.push_back(context.blocks.PassBlock(worker.shard, bucket.layers, phase));
  }
  if (phase == Phase::kForward) std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

}  // namespace

PassBlocks::PassBlocks(LoweringContext& context, const LoweredWorker& worker)
    : rules_(context.rules), chunks_(context.plan.chunk_count()) {
  bool is_paired = false;
  for (const Pass& pass : worker.order) {
    is_paired = is_paired || pass.beside_next;
    const auto phase = static_cast<size_t>(pass.phase);
    ChunkBlocks& blocks = chunks_[pass.chunk];
    const LayerRange range = context.plan.stages[worker.stage].chunks[pass.chunk];
    if (blocks.whole[phase].empty()) {
      blocks.whole[phase] = {context.blocks.PassBlock(worker.shard, range, pass.phase)};
      if (rules_.DividesSome(worker.stage, pass.phase)) {
        blocks.divided[phase] = BucketBlocks(context, worker, pass.chunk, pass.phase);
      }
    }
    if (is_paired && blocks.paired[phase].empty()) {
      blocks.paired[phase] = {context.blocks.PassBlock(worker.shard, range, pass.phase, is_paired)};
    }
    is_paired = pass.beside_next;
  }
}

std::span<const BlockId> PassBlocks::Parts(const LoweredWorker& worker, const Pass& pass,
                                           bool paired) const {
  const ChunkBlocks& blocks = chunks_[pass.chunk];
  const auto phase = static_cast<size_t>(pass.phase);
  if (IsDivided(worker, pass)) return blocks.divided[phase];
  return paired ? blocks.paired[phase] : blocks.whole[phase];
}

bool PassBlocks::IsDivided(const LoweredWorker& worker, const Pass& pass) const {
  if (!rules_.DividesSome(worker.stage, pass.phase)) return false;
  if (rules_.GathersEveryPass(worker.stage)) return true;
  const bool forward = pass.phase == Phase::kForward;
  if (!forward && rules_.ReducesEveryPass(worker.stage)) return true;
  if (!worker.updates.empty()) return worker.CompletesUpdate(pass);
  const Pass& edge = (forward ? worker.first_forward : worker.last_backward)[pass.chunk];
  return pass.phase == edge.phase && pass.micro_batch == edge.micro_batch;
}

}  // namespace stagecraft
