#include "sim/memory/rank_tensors.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "costmodel/divide.h"
#include "costmodel/hash.h"
#include "sim/memory/tensor_sizes.h"
#include "sim/memory/update_tensors.h"
#include "sim/plan/host_offload.h"
#include "sim/shard/stage_order.h"
#include "sim/shard/vocabulary_shard.h"
#include "sim/workload/vocabulary_layers.h"

namespace stagecraft {
namespace {

int Communicators(const Plan& plan, const Stage& stage, const FrameworkMemory& framework) {
  const int own = (stage.tensor_parallel > 1) + (stage.context_parallel > 1) +
                  (stage.replicas.size() > 1 || MapOf(plan).chains() > 1) +
                  (plan.stages.size() > 1) + plan.SplitsVocabulary();
  if (!framework.has_global_groups) return own;
  return own + (plan.device_count() > 1) + (stage.tensor_parallel * plan.stages.size() > 1);
}

// Counts the 32-bit masters as weights, with none of 16 bits beside them.
void SetMasters(const StateSharing& sharing, const ParameterCount& parameters,
                const ParameterCount& trained, ModelStates& states) {
  constexpr int64_t kWide = 4;
  if (sharing.working >= kWide) return;
  states.weights = Bytes(OwnParameters(parameters, sharing, 3) * kWide * sharing.versions);
  const bool has_masters = states.optimizer != Bytes();
  if (has_masters) {
    states.optimizer = states.optimizer - Bytes(OwnParameters(trained, sharing, 1) * kWide);
  }
}

}  // namespace

struct RankTensorsMaker::StageParts {
  const Plan& plan;
  const Stage& stage;
  ShardSpec spec;
  bool gathers = false;          // weights, layer by layer
  bool reduces = false;          // gradients, layer by layer
  bool makes_gradients = false;  // backwards do, since gradients have no buffers
  int64_t gradient_ranks = 0;    // over how many ranks ZeRO divides them; 0: it does not
  bool wraps = false;            // FrameworkMemory::wraps_layers
  // The parameters of the group that stays gathered, if it wraps layers, and the layer that stands
  // for the group.
  int64_t root = 0;
  LayerRole root_role = LayerRole::kEmbedding;

  // Sets what a layer with these parameters holds for a while.
  void SetStates(int64_t parameters, const LayerKind& kind, ChunkLayer& layer) const {
    const bool is_root = wraps && kind.role != LayerRole::kBlock;
    const int64_t together = !is_root ? parameters : kind.role == root_role ? root : 0;
    if (gathers && !is_root) layer.gathered = Bytes(parameters * plan.WorkingBytes());
    if (gathers && wraps) layer.gather_buffer = Bytes(together * plan.WorkingBytes());
    if (kind.is_frozen) return;
    if (reduces) {
      layer.gradients = Bytes(parameters * (wraps ? plan.WorkingBytes() : plan.gradient_bytes));
    }
    if (reduces && wraps) layer.reduce_buffer = Bytes(together * plan.gradient_bytes);
    if (gradient_ranks == 0) return;
    layer.made = Bytes(DivideUp(parameters, gradient_ranks) * plan.gradient_bytes);
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
  const Generation generation = cluster_.device(s.replicas[replica][0]).generation;
  rank.workspace =
      LibraryWorkspace(framework_, generation) + ScoreBuffer(parts) + LastOutputs(parts);
  if (framework_.makes_attention_mask) {
    rank.workspace += Bytes(parts.spec.Rows() * parts.spec.sequence);
  }
  const bool shares_weights = plan.zero >= 3 && sharing.ranks > 1;
  const bool keeps_gathered = plan.forward_only || !plan.reshard_after_forward;
  parts.gathers = shares_weights && !keeps_gathered;
  parts.reduces = plan.zero >= 2 && s.replicas.size() * s.context_parallel > 1;
  parts.wraps = framework_.wraps_layers && parts.gathers && parts.reduces;
  if (shares_weights && keeps_gathered) {
    rank.workspace += Bytes(parameters.Total() * sharing.working);
  }
  const bool has_masters = parts.wraps || framework_.casts_weights;
  if (has_masters && !plan.offload.optimizer) SetMasters(sharing, parameters, trained, rank.states);
  if (parts.wraps) {
    parts.root = RootParameters(parts);
    const bool has_table = std::any_of(s.chunks.begin(), s.chunks.end(),
                                       [](const LayerRange& range) { return range.first == 0; });
    parts.root_role = has_table ? LayerRole::kEmbedding : LayerRole::kHead;
    rank.workspace += Bytes(parts.root * sharing.working);
  }
  // Versions of weights have gradients of their own.
  parts.makes_gradients = !framework_.keeps_gradients && sharing.updates && sharing.versions == 1 &&
                          !plan.SplitsVocabulary();
  if (parts.makes_gradients) {
    rank.states.gradients = Bytes();
    if (parts.reduces) parts.gradient_ranks = sharing.ranks;
  }
  if (sharing.updates) {
    rank.update = TraceUpdate(framework_.update, {.all = trained.Total(),
                                                  .own = OwnParameters(trained, sharing, 1),
                                                  .ranks = sharing.ranks,
                                                  .zero = sharing.zero,
                                                  .working = sharing.working,
                                                  .gradient = sharing.gradient,
                                                  .optimizer = sharing.optimizer});
  }
  rank.messages = Messages(parts);
  rank.nccl = NcclBuffers(Communicators(plan, s, framework_), generation);
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
  return {.keeps_output = framework_.keeps_outputs && is_handed_on,
          .gradient_bytes = GradientBytes(parts, layer)};
}

// What the last layer of the network computed its loss from, of the micro-batch before the one that
// runs.
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

// The gradient of a tied table is one tensor, which the head makes if both are on the rank.
int RankTensorsMaker::GradientBytes(const StageParts& parts, int layer) const {
  if (!parts.makes_gradients || parts.gradient_ranks > 0) return 0;
  const bool has_head = std::any_of(parts.stage.chunks.begin(), parts.stage.chunks.end(),
                                    [&](const LayerRange& range) {
                                      return range.first + range.count == workload_.layer_count();
                                    });
  const bool is_table = workload_.layer(layer).role == LayerRole::kEmbedding;
  return is_table && has_head && workload_.tied_embeddings ? 0 : parts.plan.gradient_bytes;
}

// The tables at both ends, and the norm before the head.
int64_t RankTensorsMaker::RootParameters(const StageParts& parts) const {
  int64_t root = 0;
  for (const LayerRange& range : parts.stage.chunks) {
    for (int l = range.first; l < range.first + range.count; ++l) {
      const LayerKind& layer = workload_.layer(l);
      if (layer.role == LayerRole::kBlock) continue;
      root += ShardParameters(layer, parts.spec.tensor, parts.spec.expert).Total();
    }
  }
  return root;
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
  const TracedLayer& traced =
      Layer({spec, kind, {.keeps_input = false}, parts.plan.forward_only, true});
  ChunkLayer layer;
  layer.tensors = &traced.tensors;
  parts.SetStates(traced.parameters, workload_.kinds[kind], layer);
  return layer;
}

std::vector<ChunkLayer> RankTensorsMaker::Layers(const StageParts& parts, const LayerRange& range) {
  ShardSpec kept = parts.spec;  // for layers that are not recomputed as a whole
  kept.recomputed.clear();
  ShardSpec whole = kept;
  whole.recompute = Recompute::kFull;
  std::vector<ChunkLayer> layers;
  std::map<std::tuple<int, bool, bool, bool>, const TracedLayer*> seen;
  for (int l = range.first; l < range.first + range.count; ++l) {
    const LayerRange again = RecomputedRange(workload_, parts.spec, l);
    const int kind = workload_.layers[l];
    const bool repeats = again.count > 0;
    TraceOptions options = Options(parts, range, l);
    options.keeps_input = l == again.first;
    const auto [entry, is_new] =
        seen.try_emplace({kind, repeats, options.keeps_input, options.keeps_output});
    if (is_new) {
      entry->second = &Layer({repeats ? whole : kept, kind, options, parts.plan.forward_only});
    }
    const TracedLayer& traced = *entry->second;
    ChunkLayer layer;
    layer.tensors = &traced.tensors;
    layer.has_backward = workload_.kinds[kind].has_backward();
    layer.repeats = l == again.first + again.count - 1 ? again.count : 0;
    if (!repeats && RepeatsOperators(workload_.kinds[kind], kept)) layer.repeats = 1;
    parts.SetStates(traced.parameters, workload_.kinds[kind], layer);
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
