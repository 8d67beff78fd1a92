#include "sim/memory/rank_tensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "costmodel/hash.h"
#include "sim/memory/tensor_sizes.h"
#include "sim/memory/tied_part.h"
#include "sim/memory/update_tensors.h"
#include "sim/plan/host_offload.h"
#include "sim/plan/tied_stages.h"
#include "sim/shard/stage_order.h"
#include "sim/shard/vocabulary_shard.h"
#include "sim/workload/vocabulary_layers.h"

namespace stagecraft {
namespace {

// Returns the sizes of the groups in which a rank of the stage communicates, if it has partners.
std::vector<int64_t> GroupsOf(const Plan& plan, const Workload& workload, int stage,
                              const StateSharing& sharing, const FrameworkMemory& framework) {
  const Stage& s = plan.stages[stage];
  const auto stages = static_cast<int64_t>(plan.stages.size());
  std::vector<int64_t> groups = {s.tensor_parallel, s.context_parallel, stages};
  if (plan.SplitsVocabulary()) groups.push_back(stages);
  // Those that share states are one group, and those that hold copies of a share another one.
  const bool has_copies = plan.zero > 0 && sharing.ranks < sharing.holders;
  groups.push_back(has_copies ? sharing.ranks : sharing.holders);
  if (has_copies) groups.push_back(sharing.holders / sharing.ranks);
  if (s.expert_parallel > 1) {
    groups.push_back(s.expert_parallel);
    groups.push_back(sharing.expert_holders);
  }
  const std::optional<TiedStages> tied = FindTiedStages(plan, workload);
  if (!plan.forward_only && tied && tied->Hold(stage)) {
    groups.push_back(static_cast<int64_t>(tied->stages.size()));
  }
  if (framework.has_global_groups) {
    groups.push_back(plan.device_count());
    groups.push_back(s.tensor_parallel * stages);
  }
  return groups;
}

}  // namespace

struct RankTensorsMaker::StageParts {
  const Plan& plan;
  const Stage& stage;
  const int number;  // of the stage
  const ShardSpec spec;
  const HeldStates& held;
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
  ParameterCount parameters, trained;
  for (const ParameterCount& chunk : ChunkParameters(plan, workload_, stage)) parameters += chunk;
  for (const ParameterCount& chunk : TrainedChunkParameters(plan, workload_, stage)) {
    trained += chunk;
  }
  const StateSharing sharing = SharingOf(plan, workload_, stage, framework_);
  const HeldStates held(plan, workload_, stage, sharing, framework_);
  const StageParts parts{plan, s, stage, StageDivision(plan, workload_, stage), held};
  RankTensors rank;
  rank.states = ShareOut(parameters, trained, sharing);
  if (held.makes_gradients()) rank.states.gradients = Bytes();
  if (plan.offload.optimizer) {
    rank.states.host = HostBytes(plan, OwnParameters(trained, sharing, 1));
    rank.states.optimizer = Bytes();
  }
  rank.offloaded = plan.offload.activations;
  const Generation generation = cluster_.device(s.replicas[replica][0]).generation;
  rank.workspace =
      LibraryWorkspace(framework_, generation) + ScoreBuffer(parts) + LastOutputs(parts);
  if (framework_.makes_attention_mask) {
    rank.workspace += Bytes(parts.spec.Rows() * parts.spec.sequence);
  }
  rank.states.weights += StageIndices(plan, workload_, stage);
  if (held.gathers()) rank.workspace += held.StayGathered(Parameters(parts));
  if (sharing.updates) {
    rank.update =
        TraceUpdate(framework_.update, UpdatedBy(trained, sharing, plan.offload.optimizer));
  }
  rank.messages = Messages(parts);
  for (const int64_t ranks : GroupsOf(plan, workload_, stage, sharing, framework_)) {
    rank.nccl += NcclBuffers(ranks, generation);
  }
  for (const LayerRange& range : s.chunks) rank.chunks.push_back(Chunk(Layers(parts, range)));
  if (!plan.SplitsVocabulary()) return rank;
  for (const VocabularyPart part : {VocabularyPart::kEmbedding, VocabularyPart::kOutput}) {
    rank.chunks.push_back(Chunk({Share(parts, part)}));
  }
  return rank;
}

bool RankTensorsMaker::HasHead(const StageParts& parts) const {
  return std::any_of(parts.stage.chunks.begin(), parts.stage.chunks.end(),
                     [&](const LayerRange& range) {
                       return range.first + range.count == workload_.layer_count();
                     });
}

TraceOptions RankTensorsMaker::Options(const StageParts& parts, const LayerRange& range,
                                       int layer) const {
  const bool is_handed_on =
      layer == range.first + range.count - 1 && layer + 1 < workload_.layer_count();
  TraceOptions options{.keeps_output = framework_.keeps_outputs && is_handed_on,
                       .gradient_bytes = parts.held.OperatorGradientBytes(),
                       .has_narrow_weights = parts.plan.offload.optimizer};
  if (options.gradient_bytes == 0) return options;
  const TiedPart tied = TrainedTiedPartOf(parts.plan, workload_, parts.number, range, layer);
  options.tied = std::max(tied.after, tied.elsewhere);
  return options;
}

// Returns the bytes from which the last layer of the network computed its loss, of the micro-batch
// before the one that runs.
Bytes RankTensorsMaker::LastOutputs(const StageParts& parts) const {
  Bytes bytes;
  if (!framework_.keeps_outputs || parts.plan.forward_only || !HasHead(parts)) return bytes;
  const OperatorGraph& head = workload_.layer(workload_.layer_count() - 1).operators;
  for (size_t v = 0; v < head.size(); ++v) {
    if (head[v].kind != OperatorKind::kLoss) continue;
    for (const size_t logits : head.producers(v)) bytes += OutputBytes(head[logits], parts.spec);
  }
  return bytes;
}

std::vector<std::vector<HeldParameters>> RankTensorsMaker::Parameters(
    const StageParts& parts) const {
  const std::vector<ParameterCount> all = KindParameters(parts.plan, workload_, parts.number);
  const std::vector<ParameterCount> trained =
      TrainedKindParameters(parts.plan, workload_, parts.number);
  std::vector<std::vector<HeldParameters>> by_chunk;
  for (const LayerRange& range : parts.stage.chunks) {
    std::vector<HeldParameters>& parameters = by_chunk.emplace_back();
    for (int layer = range.first; layer < range.first + range.count; ++layer) {
      const int kind = workload_.layers[layer];
      parameters.push_back({all[kind], trained[kind]});
    }
  }
  return by_chunk;
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
      return {TraceLayer(layer, key.spec, framework_, key.forward_only, key.options),
              ShardParameters(layer, key.spec.tensor, key.spec.expert),
              ShardTrained(layer, key.spec.tensor, key.spec.expert)};
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
  const TraceOptions options{.keeps_input = false,
                             .has_narrow_weights = parts.plan.offload.optimizer};
  const TracedLayer& traced = Layer({spec, kind, options, parts.plan.forward_only, true});
  ChunkLayer layer;
  layer.tensors = &traced.tensors;
  parts.held.SetShare(workload_.kinds[kind], {traced.parameters, traced.trained}, layer);
  return layer;
}

std::vector<ChunkLayer> RankTensorsMaker::Layers(const StageParts& parts, const LayerRange& range) {
  ShardSpec kept = parts.spec;  // for layers that are not recomputed as a whole
  kept.recomputed.clear();
  ShardSpec whole = kept;
  whole.recompute = Recompute::kFull;
  std::vector<ChunkLayer> layers;
  std::map<std::tuple<int, bool, bool, bool, int64_t>, const TracedLayer*> seen;
  std::vector<HeldParameters> parameters;
  for (int l = range.first; l < range.first + range.count; ++l) {
    const LayerRange again = RecomputedRange(workload_, parts.spec, l);
    const int kind = workload_.layers[l];
    const bool repeats = again.count > 0;
    TraceOptions options = Options(parts, range, l);
    options.keeps_input = l == again.first;
    const auto [entry, is_new] =
        seen.try_emplace({kind, repeats, options.keeps_input, options.keeps_output, options.tied});
    if (is_new) {
      entry->second = &Layer({repeats ? whole : kept, kind, options, parts.plan.forward_only});
    }
    const TracedLayer& traced = *entry->second;
    ChunkLayer layer;
    layer.tensors = &traced.tensors;
    layer.has_backward = workload_.kinds[kind].has_backward();
    layer.repeats = l == again.first + again.count - 1 ? again.count : 0;
    if (!repeats && RepeatsOperators(workload_.kinds[kind], kept)) layer.repeats = 1;
    parameters.push_back({traced.parameters, traced.trained});
    layers.push_back(layer);
  }
  parts.held.Set(range, parameters, layers);
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
