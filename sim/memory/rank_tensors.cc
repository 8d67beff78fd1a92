#include "sim/memory/rank_tensors.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "costmodel/hash.h"
#include "sim/memory/tensor_sizes.h"
#include "sim/plan/host_offload.h"
#include "sim/shard/stage_order.h"
#include "sim/shard/vocabulary_shard.h"
#include "sim/workload/vocabulary_layers.h"

namespace stagecraft {
namespace {

int Communicators(const Plan& plan, const Stage& stage) {
  return (stage.tensor_parallel > 1) + (stage.context_parallel > 1) +
         (stage.replicas.size() > 1 || MapOf(plan).chains() > 1) + (plan.stages.size() > 1) +
         plan.SplitsVocabulary();
}

}  // namespace

struct RankTensorsMaker::StageParts {
  const Plan& plan;
  const Stage& stage;
  ShardSpec spec;
  bool gathers = false;  // weights, layer by layer
  bool reduces = false;  // gradients, layer by layer

  // Sets what a layer with these parameters holds for a while.
  void SetStates(int64_t parameters, bool is_frozen, ChunkLayer& layer) const {
    if (gathers) layer.gathered = Bytes(parameters * plan.WorkingBytes());
    if (reduces && !is_frozen) layer.gradients = Bytes(parameters * plan.gradient_bytes);
  }
};

size_t RankTensorsMaker::KeyHash::operator()(const LayerKey& key) const {
  const ShardSpec& spec = key.spec;
  return Hash()
      .Add(int64_t{key.kind} << 32 | spec.tensor)
      .Add(int64_t{spec.context} << 32 | spec.expert)
      .Add(spec.micro_batch << 8 | static_cast<int64_t>(spec.recompute))
      .value();
}

size_t RankTensorsMaker::KeyHash::operator()(const std::vector<ChunkLayer>& layers) const {
  Hash hash;
  if (layers.empty()) return hash.value();
  hash.Add(static_cast<int64_t>(layers.size())).Add(layers.back().gathered.count());
  for (const ChunkLayer* layer : {&layers.front(), &layers[layers.size() / 2], &layers.back()}) {
    hash.Add(reinterpret_cast<int64_t>(layer->tensors)).Add(layer->gradients.count());
  }
  return hash.value();
}

RankTensorsMaker::RankTensorsMaker(const Workload& workload, const Cluster& cluster,
                                   const FrameworkMemory& framework)
    : workload_(workload), cluster_(cluster), framework_(framework) {}

void RankTensorsMaker::Forget() {
  chunks_.clear();
  layers_.clear();
}

RankTensors RankTensorsMaker::Make(const Plan& plan, int stage, int replica) {
  const Stage& s = plan.stages[stage];
  StageParts parts{plan, s, StageDivision(plan, workload_, stage)};
  ParameterCount parameters, trained;
  for (const ParameterCount& chunk : ChunkParameters(plan, workload_, stage)) parameters += chunk;
  for (const ParameterCount& chunk : TrainedChunkParameters(plan, workload_, stage)) {
    trained += chunk;
  }
  const StateSharing sharing = SharingOf(plan, workload_, stage);
  RankTensors rank;
  rank.states = ShareOut(parameters, trained, sharing);
  if (plan.offload.optimizer) {
    rank.states.host = HostBytes(plan, OwnParameters(trained, sharing, 1));
    rank.states.optimizer = Bytes();
  }
  rank.offloaded = plan.offload.activations;
  rank.workspace =
      LibraryWorkspace(framework_, cluster_.device(s.replicas[replica][0]).generation) +
      ScoreBuffer(parts);
  if (framework_.makes_attention_mask) {
    rank.workspace += Bytes(parts.spec.Rows() * parts.spec.sequence);
  }
  const bool shares_weights = plan.zero >= 3 && sharing.ranks > 1;
  const bool keeps_gathered = plan.forward_only || !plan.reshard_after_forward;
  if (shares_weights && keeps_gathered) {
    rank.workspace += Bytes(parameters.Total() * sharing.working);
  }
  rank.messages = Messages(parts);
  rank.nccl = NcclBuffers(Communicators(plan, s));
  parts.gathers = shares_weights && !keeps_gathered;
  parts.reduces = plan.zero >= 2 && s.replicas.size() * s.context_parallel > 1;
  for (const LayerRange& range : s.chunks) rank.chunks.push_back(Chunk(Layers(parts, range)));
  if (!plan.SplitsVocabulary()) return rank;
  for (const VocabularyPart part : {VocabularyPart::kEmbedding, VocabularyPart::kOutput}) {
    rank.chunks.push_back(Chunk({Share(parts, part)}));
  }
  return rank;
}

Bytes RankTensorsMaker::ScoreBuffer(const StageParts& parts) const {
  Bytes largest;
  if (!framework_.keeps_score_buffer) return largest;
  for (const LayerRange& range : parts.stage.chunks) {
    for (int l = range.first; l < range.first + range.count; ++l) {
      for (const Operator& op : workload_.layer(l).operators) {
        if (op.kind != OperatorKind::kAttention) continue;
        largest = std::max(largest, ForwardScratch(op, parts.spec));
      }
    }
  }
  return largest;
}

// The gradient that was sent to the stage before stays until the next one is made.
Bytes RankTensorsMaker::Messages(const StageParts& parts) const {
  Bytes largest;
  if (parts.plan.stages.size() == 1 || parts.plan.forward_only) return largest;
  for (const LayerRange& range : parts.stage.chunks) {
    if (range.first == 0 || !workload_.layer(range.first).returns_gradient) continue;
    largest = std::max(largest, BoundaryBytes(workload_.layer(range.first - 1), parts.spec));
  }
  return largest;
}

const RankTensorsMaker::TracedLayer& RankTensorsMaker::Layer(const LayerKey& key) {
  const auto [entry, is_new] = layers_.try_emplace(key);
  if (is_new) {
    const auto trace = [&](const LayerKind& layer) -> TracedLayer {
      return {TraceLayer(layer, key.spec, framework_, key.forward_only, key.keeps_input),
              ShardParameters(layer, key.spec.tensor, key.spec.expert).Total()};
    };
    const LayerKind& layer = workload_.kinds[key.kind];
    if (key.is_share) {
      entry->second = trace(VocabularyShare(layer, key.spec.vocabulary_shares));
    } else {
      entry->second = trace(OwnLayer(layer, key.spec));
    }
  }
  return entry->second;
}

ChunkLayer RankTensorsMaker::Share(const StageParts& parts, VocabularyPart part) {
  const bool is_embedding = part == VocabularyPart::kEmbedding;
  const int kind = is_embedding ? workload_.layers.front() : workload_.layers.back();
  ShardSpec spec = parts.spec;
  spec.recomputed.clear();
  const TracedLayer& traced = Layer({spec, kind, false, parts.plan.forward_only, true});
  ChunkLayer layer;
  layer.tensors = &traced.tensors;
  parts.SetStates(traced.parameters, workload_.kinds[kind].is_frozen, layer);
  return layer;
}

std::vector<ChunkLayer> RankTensorsMaker::Layers(const StageParts& parts, const LayerRange& range) {
  ShardSpec kept = parts.spec;  // for layers that are not recomputed as a whole
  kept.recomputed.clear();
  ShardSpec whole = kept;
  whole.recompute = Recompute::kFull;
  std::vector<ChunkLayer> layers;
  std::map<std::tuple<int, bool, bool>, const TracedLayer*> seen;
  for (int l = range.first; l < range.first + range.count; ++l) {
    const LayerRange again = RecomputedRange(workload_, parts.spec, l);
    const int kind = workload_.layers[l];
    const bool repeats = again.count > 0;
    const bool keeps_input = l == again.first;
    const auto [entry, is_new] = seen.try_emplace({kind, repeats, keeps_input});
    if (is_new) {
      entry->second = &Layer({repeats ? whole : kept, kind, keeps_input, parts.plan.forward_only});
    }
    const TracedLayer& traced = *entry->second;
    ChunkLayer layer;
    layer.tensors = &traced.tensors;
    layer.has_backward = workload_.kinds[kind].has_backward();
    layer.repeats = l == again.first + again.count - 1 ? again.count : 0;
    if (!repeats && RepeatsOperators(workload_.kinds[kind], kept)) layer.repeats = 1;
    parts.SetStates(traced.parameters, workload_.kinds[kind].is_frozen, layer);
    layers.push_back(layer);
  }
  return layers;
}

std::shared_ptr<const ChunkTensors> RankTensorsMaker::Chunk(std::vector<ChunkLayer> layers) {
  const auto found = chunks_.find(layers);
  if (found != chunks_.end()) return found->second;
  auto chunk = std::make_shared<const ChunkTensors>(JoinLayers(layers));
  chunks_.emplace(std::move(layers), chunk);
  return chunk;
}

}  // namespace stagecraft
