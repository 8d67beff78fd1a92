#include "sim/lowering/op_memory.h"

#include "costmodel/hash.h"
#include "sim/shard/vocabulary_shard.h"

namespace stagecraft {
namespace {

// Above this number of ops, some tens of megabytes, all are forgotten.
constexpr size_t kMostOps = 100'000;

}  // namespace

void OpMemory::BeginPlan() {
  if (ops_.size() <= kMostOps) return;
  layers_.clear();
  ops_.clear();
  numbers_.clear();
}

int32_t OpMemory::NumberOf(const Op& op) {
  const auto [entry, is_new] = numbers_.try_emplace(op, static_cast<int32_t>(ops_.size()));
  if (is_new) ops_.push_back(&entry->first);
  return entry->second;
}

OpMemory::Sequence OpMemory::Number(const Steps& steps) {
  Sequence sequence;
  for (const Step& step : steps) {
    sequence.ops.push_back(NumberOf(step.op));
    sequence.flags.push_back(step.flags);
  }
  return sequence;
}

const OpMemory::Layer& OpMemory::LayerOf(int kind, const ShardSpec& spec) {
  const auto [entry, is_new] = layers_.try_emplace({kind, spec});
  if (is_new) {
    const LayerSteps steps = ShardLayer(OwnLayer(workload_.kinds[kind], spec), spec);
    entry->second = {Number(steps.forward), Number(steps.backward)};
  }
  return entry->second;
}

size_t OpMemory::KeyHash::operator()(const Key& key) const {
  const ShardSpec& spec = key.spec;
  return TableHash()
      .Add(int64_t{key.kind} << 32 | spec.tensor)
      .Add(int64_t{spec.context} << 32 | spec.expert)
      .Add(spec.micro_batch << 8 | static_cast<int64_t>(spec.recompute))
      .Add(spec.gradient_bytes << 2 | (spec.sequence_parallel ? 2 : 0) |
           (spec.overlap_tensor ? 1 : 0))
      .value();
}

}  // namespace stagecraft
