#include "sim/memory/rank_tensors.h"

#include <algorithm>

#include "sim/host_offload.h"
#include "sim/memory/tensor_sizes.h"
#include "sim/stage_order.h"

namespace stagecraft {
namespace {

// `spec` as far as tensors follow from it.
ShardSpec WithoutFabrics(ShardSpec spec) {
  spec.tensor_fabric = {};
  spec.context_fabric = {};
  spec.expert_fabric = {};
  return spec;
}

int Communicators(const Plan& plan, const Stage& stage) {
  return (stage.tensor_parallel > 1) + (stage.context_parallel > 1) +
         (stage.replicas.size() > 1 || MapOf(plan).chains() > 1) + (plan.stages.size() > 1);
}

}  // namespace

struct RankTensorsMaker::StageParts {
  const Stage& stage;
  ShardSpec spec;
  bool gathers = false;  // weights, layer by layer
  bool reduces = false;  // gradients, likewise
};

RankTensorsMaker::RankTensorsMaker(const Plan& plan, const Workload& workload,
                                   const Cluster& cluster, const FrameworkMemory& framework)
    : plan_(plan), workload_(workload), cluster_(cluster), framework_(framework) {}

RankTensors RankTensorsMaker::Make(int stage, int replica) {
  const Stage& s = plan_.stages[stage];
  StageParts parts{s, WithoutFabrics(StageShard(plan_, workload_, cluster_, stage, replica))};
  ParameterCount parameters;
  for (const ParameterCount& chunk : ChunkParameters(plan_, workload_, stage)) parameters += chunk;
  const StateSharing sharing = SharingOf(plan_, workload_, stage);
  RankTensors rank;
  rank.states = ShareOut(parameters, sharing);
  if (plan_.offload.optimizer) {
    rank.states.host = HostBytes(plan_, OwnParameters(parameters, sharing, 1));
    rank.states.optimizer = Bytes();
  }
  rank.offloaded = plan_.offload.activations;
  rank.workspace =
      LibraryWorkspace(framework_, cluster_.device(s.replicas[replica][0]).generation) +
      ScoreBuffer(parts);
  if (framework_.makes_attention_mask) {
    rank.workspace += Bytes(parts.spec.Rows() * parts.spec.sequence);
  }
  const bool shares_weights = plan_.zero >= 3 && sharing.ranks > 1;
  const bool keeps_gathered = plan_.forward_only || !plan_.reshard_after_forward;
  if (shares_weights && keeps_gathered) {
    rank.workspace += Bytes(parameters.Total() * sharing.working);
  }
  rank.messages = Messages(parts);
  rank.nccl = NcclBuffers(Communicators(plan_, s));
  parts.gathers = shares_weights && !keeps_gathered;
  parts.reduces = plan_.zero >= 2 && s.replicas.size() * s.context_parallel > 1;
  for (const LayerRange& range : s.chunks) rank.chunks.push_back(Chunk(parts, range));
  return rank;
}

Bytes RankTensorsMaker::ScoreBuffer(const StageParts& parts) const {
  Bytes largest;
  if (!framework_.keeps_score_buffer) return largest;
  for (const LayerRange& range : parts.stage.chunks) {
    for (int l = range.first; l < range.first + range.count; ++l) {
      const auto& operators = workload_.layer(l).operators;
      for (size_t v = 0; v < boost::num_vertices(operators); ++v) {
        if (operators[v].kind != OperatorKind::kAttention) continue;
        largest = std::max(largest, ForwardScratch(operators[v], parts.spec));
      }
    }
  }
  return largest;
}

// The gradient that went to the stage before stays until the next one is made.
Bytes RankTensorsMaker::Messages(const StageParts& parts) const {
  Bytes largest;
  if (plan_.stages.size() == 1 || plan_.forward_only) return largest;
  for (const LayerRange& range : parts.stage.chunks) {
    if (range.first == 0) continue;
    largest = std::max(largest, BoundaryBytes(workload_.layer(range.first - 1), parts.spec));
  }
  return largest;
}

const RankTensorsMaker::TracedLayer& RankTensorsMaker::Layer(const ShardSpec& spec, int kind,
                                                             bool keeps_input) {
  for (const TracedLayer& known : layers_) {
    if (known.kind == kind && known.keeps_input == keeps_input && known.spec == spec) return known;
  }
  const LayerKind& layer = workload_.kinds[kind];
  layers_.push_back({spec, kind, keeps_input,
                     TraceLayer(layer, spec, framework_, plan_.forward_only, keeps_input),
                     ShardParameters(layer, spec.tensor, spec.expert).Total()});
  return layers_.back();
}

std::shared_ptr<const ChunkTensors> RankTensorsMaker::Chunk(const StageParts& parts,
                                                            const LayerRange& range) {
  ShardSpec kept = parts.spec;  // of layers that recompute nothing whole
  kept.recomputed.clear();
  ShardSpec whole = kept;
  whole.recompute = Recompute::kFull;
  std::vector<ChunkLayer> layers;
  for (int l = range.first; l < range.first + range.count; ++l) {
    const LayerRange again = RecomputedRange(workload_, parts.spec, l);
    const TracedLayer& traced =
        Layer(again.count > 0 ? whole : kept, workload_.layers[l], l == again.first);
    ChunkLayer layer;
    layer.tensors = &traced.tensors;
    layer.repeats = l == again.first + again.count - 1 ? again.count : 0;
    if (parts.gathers) layer.gathered = Bytes(traced.parameters * plan_.WorkingBytes());
    if (parts.reduces) layer.gradients = Bytes(traced.parameters * plan_.gradient_bytes);
    layers.push_back(layer);
  }
  for (const auto& [known, chunk] : chunks_) {
    if (known == layers) return chunk;
  }
  auto chunk = std::make_shared<const ChunkTensors>(JoinLayers(layers));
  chunks_.emplace_back(std::move(layers), chunk);
  return chunk;
}

}  // namespace stagecraft
