#include "sim/step/work_counter.h"

#include <map>
#include <utility>

#include "costmodel/hash.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {

size_t WorkCounter::LayerHash::operator()(const Layer& layer) const {
  const ShardSpec& spec = layer.spec;
  return Hash()
      .Add(int64_t{layer.kind} << 32 | spec.tensor)
      .Add(int64_t{spec.context} << 32 | spec.expert)
      .Add(spec.micro_batch << 8 | static_cast<int64_t>(spec.recompute))
      .value();
}

void WorkCounter::Count(const Plan& plan, Evaluation& evaluation) {
  evaluation.samples = static_cast<double>(plan.global_batch);
  evaluation.tokens = evaluation.samples * static_cast<double>(plan.sequence);
  const auto [per_token, is_new] = per_token_.try_emplace({plan.sequence, plan.forward_only});
  if (is_new) {
    per_token->second = plan.forward_only ? workload_.ForwardFlopsPerToken(plan.sequence)
                                          : workload_.TrainingFlopsPerToken(plan.sequence);
  }
  evaluation.model_flops = evaluation.tokens * per_token->second;
  evaluation.hardware_flops = evaluation.model_flops + RecomputedFlopsOf(plan);
  evaluation.group_devices.assign(cluster_.groups().size(), 0);
  double peak = 0;
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      for (const int device : replica) {
        peak += cluster_.device(device).Peak(WorkingType(plan.precision)).flop_per_s();
        ++evaluation.devices;
        ++evaluation.group_devices[cluster_.device_group(device)];
      }
    }
  }
  evaluation.peak = FlopRate(peak);
}

FlopCount WorkCounter::RecomputedFlopsOf(const Plan& plan) {
  FlopCount flops;
  if (plan.forward_only) return flops;
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const Stage& s = plan.stages[stage];
    const ShardSpec spec = StageDivision(plan, workload_, static_cast<int>(stage));
    std::map<std::pair<int, bool>, FlopCount> known;  // by kind, recomputed whole
    const double ranks = s.tensor_parallel * s.context_parallel;
    const double micro_batches = static_cast<double>(plan.micro_batches()) / MapOf(plan).chains();
    for (const LayerRange& range : s.chunks) {
      for (int l = range.first; l < range.first + range.count; ++l) {
        const bool is_whole = RecomputedRange(workload_, spec, l).count > 0;
        const auto [entry, is_new] = known.try_emplace({workload_.layers[l], is_whole});
        if (is_new) entry->second = RecomputedFlopsOf(spec, l);
        flops += ranks * micro_batches * entry->second;
      }
    }
  }
  return flops;
}

FlopCount WorkCounter::RecomputedFlopsOf(const ShardSpec& spec, int layer) {
  const Layer key{LayerSpec(workload_, spec, layer), workload_.layers[layer]};
  const auto [entry, is_new] = recomputed_.try_emplace(key);
  if (is_new) entry->second = RecomputedFlops(workload_.layer(layer), key.spec);
  return entry->second;
}

}  // namespace stagecraft
