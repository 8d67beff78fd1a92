#include "sim/memory/rank_tensors.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/lowering.h"
#include "sim/memory/tensor_sizes.h"

namespace stagecraft {
namespace {

class Maker {
 public:
  Maker(const Plan& plan, const Workload& workload, const Cluster& cluster, int stage, int replica,
        const FrameworkMemory& framework)
      : plan_(plan),
        workload_(workload),
        stage_(stage),
        framework_(framework),
        spec_(StageShard(plan, workload, cluster, stage, replica)),
        generation_(cluster.device(plan.stages[stage].replicas[replica][0]).generation) {}

  RankTensors Make() {
    RankTensors rank;
    ParameterCount parameters;
    for (const ParameterCount& chunk : ChunkParameters(plan_, workload_, stage_)) {
      parameters += chunk;
    }
    const StateSharing sharing = SharingOf(plan_, workload_, stage_);
    rank.states = ShareOut(parameters, sharing);
    rank.workspace = LibraryWorkspace(framework_, generation_) + MaskBytes() + ScoreBuffer();
    shares_weights_ = plan_.zero >= 3 && sharing.ranks > 1;
    keeps_gathered_ = plan_.forward_only || !plan_.reshard_after_forward;
    if (shares_weights_ && keeps_gathered_) {
      rank.workspace += Bytes(parameters.Total() * sharing.working);
    }
    rank.messages = Messages();
    rank.nccl = NcclBuffers(Communicators());
    for (const LayerRange& range : stage().chunks) rank.chunks.push_back(Chunk(range));
    return rank;
  }

 private:
  const Stage& stage() const { return plan_.stages[stage_]; }

  template <typename F>
  void ForEachLayer(F f) const {
    for (const LayerRange& range : stage().chunks) {
      for (int l = range.first; l < range.first + range.count; ++l) f(workload_.layer(l));
    }
  }

  int Communicators() const {
    return (stage().tensor_parallel > 1) + (stage().context_parallel > 1) +
           (stage().replicas.size() > 1 || MapOf(plan_).chains() > 1) + (plan_.stages.size() > 1);
  }

  Bytes MaskBytes() const {
    if (!framework_.makes_attention_mask) return Bytes();
    return Bytes(spec_.Rows() * spec_.sequence);
  }

  Bytes ScoreBuffer() const {
    Bytes largest;
    if (!framework_.keeps_score_buffer) return largest;
    ForEachLayer([&](const LayerKind& layer) {
      for (size_t v = 0; v < boost::num_vertices(layer.operators); ++v) {
        const Operator& op = layer.operators[v];
        if (op.kind != OperatorKind::kAttention) continue;
        largest = std::max(largest, ForwardScratch(op, spec_));
      }
    });
    return largest;
  }

  // The gradient that went to the stage before stays until the next one is made.
  Bytes Messages() const {
    Bytes largest;
    if (plan_.stages.size() == 1 || plan_.forward_only) return largest;
    for (const LayerRange& range : stage().chunks) {
      if (range.first == 0) continue;
      largest = std::max(largest, BoundaryBytes(workload_.layer(range.first - 1), spec_));
    }
    return largest;
  }

  const LayerTensors& Layer(int layer, const LayerRange& recomputed) {
    const bool keeps_input = layer == recomputed.first;
    const auto [entry, is_new] =
        layers_.try_emplace({workload_.layers[layer], recomputed.count > 0, keeps_input});
    if (is_new) {
      entry->second = TraceLayer(workload_.layer(layer), LayerSpec(workload_, spec_, layer),
                                 framework_, plan_.forward_only, keeps_input);
    }
    return entry->second;
  }

  ChunkTensors Chunk(const LayerRange& range) {
    const bool gathers = shares_weights_ && !keeps_gathered_;
    const bool reduces = plan_.zero >= 2 && stage().replicas.size() * stage().context_parallel > 1;
    std::vector<ChunkLayer> layers;
    for (int l = range.first; l < range.first + range.count; ++l) {
      ChunkLayer layer;
      const LayerRange recomputed = RecomputedRange(workload_, spec_, l);
      layer.tensors = &Layer(l, recomputed);
      const bool is_last = l == recomputed.first + recomputed.count - 1;
      layer.repeats = is_last ? recomputed.count : 0;
      const int64_t parameters =
          ShardParameters(workload_.layer(l), stage().tensor_parallel, stage().expert_parallel)
              .Total();
      if (gathers) layer.gathered = Bytes(parameters * plan_.WorkingBytes());
      if (reduces) layer.gradients = Bytes(parameters * plan_.gradient_bytes);
      layers.push_back(layer);
    }
    return JoinLayers(layers);
  }

  const Plan& plan_;
  const Workload& workload_;
  const int stage_;
  const FrameworkMemory& framework_;
  const ShardSpec spec_;
  const Generation generation_;
  bool shares_weights_ = false;
  bool keeps_gathered_ = false;
  // By kind, whether the layer recomputes whole, and keeps its input.
  std::map<std::tuple<int, bool, bool>, LayerTensors> layers_;
};

}  // namespace

RankTensors MakeRankTensors(const Plan& plan, const Workload& workload, const Cluster& cluster,
                            int stage, int replica, const FrameworkMemory& framework) {
  return Maker(plan, workload, cluster, stage, replica, framework).Make();
}

}  // namespace stagecraft
