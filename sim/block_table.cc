#include "sim/block_table.h"

#include <algorithm>

namespace stagecraft {

int BlockTable::InternShard(const ShardSpec& spec) {
  const auto found = std::find(shards_.begin(), shards_.end(), spec);
  if (found != shards_.end()) return static_cast<int>(found - shards_.begin());
  shards_.push_back(spec);
  return static_cast<int>(shards_.size()) - 1;
}

OpId BlockTable::InternOp(const Op& op) {
  const auto [entry, is_new] = op_ids_.try_emplace(op, -1);
  if (is_new) entry->second = builder_.AddOp(op);
  return entry->second;
}

BlockTable::Sequence BlockTable::InternSteps(const Steps& steps) {
  Sequence sequence;
  for (const Step& step : steps) {
    sequence.ops.push_back(InternOp(step.op));
    sequence.flags.push_back(step.flags);
  }
  return sequence;
}

const BlockTable::LayerSequences& BlockTable::Layer(int shard, int kind) {
  const auto [entry, is_new] = layers_.try_emplace({shard, kind});
  if (is_new) {
    const LayerSteps steps = ShardLayer(workload_.kinds[kind], shards_[shard]);
    entry->second = {InternSteps(steps.forward), InternSteps(steps.backward)};
  }
  return entry->second;
}

BlockId BlockTable::PassBlock(int shard, LayerRange range, Phase phase) {
  const auto [entry, is_new] =
      pass_blocks_.try_emplace({shard, range.first, range.count, phase}, -1);
  if (!is_new) return entry->second;
  Sequence pass;
  for (int i = 0; i < range.count; ++i) {
    const bool forward = phase == Phase::kForward;
    const int layer = range.first + (forward ? i : range.count - 1 - i);
    const LayerSequences& layers = Layer(shard, workload_.layers[layer]);
    const Sequence& part = forward ? layers.forward : layers.backward;
    pass.ops.insert(pass.ops.end(), part.ops.begin(), part.ops.end());
    pass.flags.insert(pass.flags.end(), part.flags.begin(), part.flags.end());
  }
  entry->second = builder_.AddBlock(pass.ops, pass.flags);
  return entry->second;
}

BlockId BlockTable::SingleOp(const Op& op) {
  const OpId id = InternOp(op);
  const auto [entry, is_new] = single_blocks_.try_emplace(id, -1);
  if (is_new) entry->second = builder_.AddBlock({&id, 1});
  return entry->second;
}

}  // namespace stagecraft
