#include "sim/lowering/op_sequence_table.h"

#include <algorithm>
#include <utility>

#include "costmodel/hash.h"

namespace stagecraft {

int OpSequenceTable::InternShard(const ShardSpec& spec) {
  const auto found = std::find(shards_.begin(), shards_.end(), spec);
  if (found != shards_.end()) return static_cast<int>(found - shards_.begin());
  shards_.push_back(spec);
  return static_cast<int>(shards_.size()) - 1;
}

OpId OpSequenceTable::Intern(int32_t number) {
  const auto index = static_cast<size_t>(number);
  if (index >= op_ids_.size()) op_ids_.resize(index + 1, -1);
  OpId& id = op_ids_[index];
  if (id < 0) {
    const Op& op = memory_.op(number);
    id = builder_.AddOp(op);
    is_collective_.push_back(IsCollective(op.kind));
  }
  return id;
}

OpSequenceTable::Sequence OpSequenceTable::Intern(const OpMemory::Sequence& sequence) {
  Sequence interned;
  interned.flags = sequence.flags;
  interned.ops.reserve(sequence.ops.size());
  for (const int32_t number : sequence.ops) interned.ops.push_back(Intern(number));
  return interned;
}

OpSequenceTable::Sequence OpSequenceTable::InternSteps(const Steps& steps) {
  Sequence sequence;
  for (const Step& step : steps) {
    sequence.ops.push_back(InternOp(step.op));
    sequence.flags.push_back(step.flags);
  }
  return sequence;
}

const OpSequenceTable::LayerSequences& OpSequenceTable::Layer(int shard, int layer) {
  const bool recomputes = RecomputedRange(workload_, shards_[shard], layer).count > 0;
  const int kind = workload_.layers[layer];
  const auto [entry, is_new] = layers_.try_emplace({shard, kind, recomputes});
  if (is_new) {
    const OpMemory::Layer& own = memory_.LayerOf(kind, LayerSpec(workload_, shards_[shard], layer));
    entry->second = {Intern(own.forward), Intern(own.backward)};
  }
  return entry->second;
}

// A backward in two passes separates weight gradients from everything else. An op that would have
// run beside one on the other side then runs beside nothing.
void OpSequenceTable::AppendPass(const LayerSequences& layer, Phase phase, Sequence& pass) {
  const Sequence& whole = phase == Phase::kForward ? layer.forward : layer.backward;
  if (phase == Phase::kForward || phase == Phase::kBackward) {
    pass.ops.insert(pass.ops.end(), whole.ops.begin(), whole.ops.end());
    pass.flags.insert(pass.flags.end(), whole.flags.begin(), whole.flags.end());
    return;
  }
  const auto is_part = [&](size_t i) {
    const bool is_weight = (whole.flags[i] & kWeightGradient) != 0;
    return is_weight == (phase == Phase::kBackwardWeight);
  };
  for (size_t i = 0; i < whole.ops.size(); ++i) {
    if (!is_part(i)) continue;
    uint8_t flags = whole.flags[i];
    if (i + 1 < whole.ops.size() && !is_part(i + 1)) {
      flags = static_cast<uint8_t>(flags & ~kOverlapsNext);
    }
    pass.ops.push_back(whole.ops[i]);
    pass.flags.push_back(flags);
  }
}

OpSequenceTable::Sequence OpSequenceTable::Filtered(const Sequence& pass, bool exchanges) {
  Sequence filtered;
  for (size_t i = 0; i < pass.ops.size(); ++i) {
    if (((pass.flags[i] & kExpertGroup) != 0) != exchanges) continue;
    filtered.ops.push_back(pass.ops[i]);
    filtered.flags.push_back(pass.flags[i]);
  }
  return filtered;
}

// Appends what runs again before the backward of a layer: if the layer is the last of a range that
// recomputes, the whole range, even if the pass is divided within it.
void OpSequenceTable::AppendRepeated(int shard, int layer, Sequence& pass) {
  const LayerRange range = RecomputedRange(workload_, shards_[shard], layer);
  if (layer != range.first + range.count - 1) return;
  for (int l = range.first; l <= layer; ++l) AppendPass(Layer(shard, l), Phase::kForward, pass);
}

void OpSequenceTable::SetContents(LayerRange range, PassKey& key) const {
  key.contents.clear();
  for (int layer = range.first; layer < range.first + range.count; ++layer) {
    const LayerRange again = RecomputedRange(workload_, shards_[key.shard], layer);
    // Layers that recompute together may lie on both sides of an end of the range.
    if (again.count > 1) {
      key.contents = {-1, range.first, range.count};
      return;
    }
    key.contents.push_back(2 * workload_.layers[layer] + again.count);
  }
}

size_t OpSequenceTable::PassKeyHash::operator()(const PassKey& key) const {
  TableHash hash;
  hash.Add(int64_t{key.shard} << 32 | key.calls);
  hash.Add(static_cast<int64_t>(key.phase) << 8 | static_cast<int64_t>(key.beside));
  for (const int content : key.contents) hash.Add(content);
  return hash.value();
}

OpSequenceId OpSequenceTable::AddPass(Sequence pass, int calls) {
  if (calls > 0 && !pass.ops.empty()) {
    Op op;
    op.kernels = calls;
    pass.ops.insert(pass.ops.begin(), InternOp(op));
    pass.flags.insert(pass.flags.begin(), 0);
  }
  return builder_.AddOpSequence(pass.ops, pass.flags);
}

OpSequenceTable::Sequence OpSequenceTable::WholePass(int shard, LayerRange range, Phase phase) {
  Sequence pass;
  for (int i = 0; i < range.count; ++i) {
    const int layer = range.first + (phase == Phase::kForward ? i : range.count - 1 - i);
    if (IsBackward(phase)) AppendRepeated(shard, layer, pass);
    AppendPass(Layer(shard, layer), phase, pass);
  }
  return pass;
}

OpSequenceId OpSequenceTable::PassOpSequence(int shard, LayerRange range, Phase phase,
                                             Beside beside, int calls) {
  key_.shard = shard;
  key_.phase = phase;
  key_.beside = beside;
  key_.calls = calls;
  SetContents(range, key_);
  const auto [entry, is_new] = pass_op_sequences_.try_emplace(key_, -1);
  if (!is_new) return entry->second;
  Sequence pass = WholePass(shard, range, phase);
  const bool has_exchanges = beside == Beside::kExchanges || beside == Beside::kPassAndExchanges;
  if (has_exchanges) pass = Filtered(pass, /*exchanges=*/false);
  const bool hides_others = beside == Beside::kPass || beside == Beside::kPassAndExchanges;
  for (size_t i = 0; hides_others && i + 1 < pass.ops.size(); ++i) {
    const bool is_exchange = (pass.flags[i] & kExpertGroup) != 0;
    if (is_collective_[pass.ops[i]] && !is_exchange) pass.flags[i] |= kOverlapsNext;
  }
  entry->second = AddPass(std::move(pass), calls);
  return entry->second;
}

OpSequenceId OpSequenceTable::ExchangeOpSequence(int shard, LayerRange range, Phase phase) {
  key_ = {.shard = shard, .phase = phase, .contents = {}};
  SetContents(range, key_);
  const auto [entry, is_new] = exchange_op_sequences_.try_emplace(key_, -1);
  if (!is_new) return entry->second;
  const Sequence exchanges = Filtered(WholePass(shard, range, phase), /*exchanges=*/true);
  if (!exchanges.ops.empty()) {
    entry->second = builder_.AddOpSequence(exchanges.ops, exchanges.flags);
  }
  return entry->second;
}

OpSequenceId OpSequenceTable::SharedOpSequence(int shard, VocabularyPart part,
                                               VocabularyPlacement placement, Phase phase,
                                               int calls) {
  const auto [entry, is_new] = shared_op_sequences_.try_emplace({shard, part, phase}, -1);
  if (!is_new) return entry->second;
  const auto [layer, is_first] = shared_layers_.try_emplace({shard, part});
  if (is_first) {
    const LayerSteps steps = ShardShared(workload_, part, shards_[shard], placement);
    layer->second = {InternSteps(steps.forward), InternSteps(steps.backward)};
  }
  Sequence pass;
  AppendPass(layer->second, phase, pass);
  entry->second = AddPass(std::move(pass), calls);
  return entry->second;
}

OpSequenceId OpSequenceTable::SingleOp(const Op& op) {
  const OpId id = InternOp(op);
  const auto [entry, is_new] = single_op_sequences_.try_emplace(id, -1);
  if (is_new) entry->second = builder_.AddOpSequence({&id, 1});
  return entry->second;
}

OpSequenceId OpSequenceTable::HostOp(const Op& op) {
  const OpId id = InternOp(op);
  const auto [entry, is_new] = host_op_sequences_.try_emplace(id, -1);
  constexpr uint8_t kFlags = kOnHost;
  if (is_new) entry->second = builder_.AddOpSequence({&id, 1}, {&kFlags, 1});
  return entry->second;
}

OpSequenceId OpSequenceTable::OpSequenceOf(const std::vector<Op>& ops) {
  std::vector<OpId> ids;
  for (const Op& op : ops) ids.push_back(InternOp(op));
  const auto [entry, is_new] = listed_op_sequences_.try_emplace(ids, -1);
  if (is_new) entry->second = builder_.AddOpSequence(ids);
  return entry->second;
}

}  // namespace stagecraft
