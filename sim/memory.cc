#include "sim/memory.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "costmodel/divide.h"
#include "sim/lowering.h"
#include "sim/shard.h"

namespace stagecraft {
namespace {

// A CUDA context with cuBLAS, cuDNN and NCCL loaded. 1.1e9 bytes is the gap
// between nvidia-smi and reserved memory that data/published records for
// PyTorch on V100 and A100 boards.
constexpr Bytes kFrameworkMemory(1'100'000'000);
// cuBLAS's default workspace: 32 MiB on Hopper and later, 4 MiB and a little
// before (cuBLAS documentation, cublasSetWorkspace).
constexpr Bytes kHopperWorkspace(32 << 20);
constexpr Bytes kOlderWorkspace(4 << 20);
// NCCL's default buffer of one channel and peer (NCCL_BUFFSIZE), and channels
// of a communicator inside a node; both directions.
constexpr int64_t kNcclBuffer = 4 << 20;
constexpr int64_t kNcclChannels = 16;
constexpr int64_t kNcclDirections = 2;

// Moments in 32 bits, and a master copy where the weights are narrower.
int64_t OptimizerBytes(const Plan& plan) {
  const int64_t moments = plan.optimizer == Optimizer::kAdam ? 2 : 1;
  return 4 * (moments + (plan.WorkingBytes() == 4 ? 0 : 1));
}

struct ChunkMemory {
  Bytes saved;          // per micro-batch in flight
  Bytes until_weights;  // of it, where backwards are split, until the weight gradients
  Bytes recomputed;     // the largest layer's, during its backward

  // What the end of a pass gives back.
  Bytes Freed(Phase phase) const {
    switch (phase) {
      case Phase::kBackward:
        return saved;
      case Phase::kBackwardInput:
        return saved - until_weights;
      case Phase::kBackwardWeight:
        return until_weights;
      default:
        return Bytes();
    }
  }
};

std::vector<ChunkMemory> ChunkActivations(const Plan& plan, const Workload& workload, int stage,
                                          const ShardSpec& spec) {
  std::vector<LayerMemory> by_kind;
  for (const LayerKind& kind : workload.kinds) by_kind.push_back(SavedActivations(kind, spec));
  std::vector<ChunkMemory> chunks;
  for (const LayerRange& range : plan.stages[stage].chunks) {
    ChunkMemory chunk;
    for (int l = range.first; l < range.first + range.count; ++l) {
      const LayerMemory& layer = by_kind[workload.layers[l]];
      chunk.saved += layer.saved;
      chunk.until_weights += std::min(layer.until_weights, layer.saved);
      chunk.recomputed = std::max(chunk.recomputed, layer.recomputed);
    }
    chunks.push_back(chunk);
  }
  return chunks;
}

// Peak of saved activations along a stage's order, with the recomputed ones of
// the backward that runs at the time.
Bytes PeakActivations(const PassOrder& order, const std::vector<ChunkMemory>& chunks) {
  Bytes held;
  Bytes peak;
  for (const Pass& pass : order) {
    const ChunkMemory& chunk = chunks[pass.chunk];
    if (pass.phase == Phase::kForward) {
      held += chunk.saved;
      peak = std::max(peak, held);
    } else {
      if (IsBackward(pass.phase)) peak = std::max(peak, held + chunk.recomputed);
      held = held - chunk.Freed(pass.phase);
    }
  }
  return peak;
}

// The largest operator's inputs and outputs with their gradients: what a pass
// holds only while it runs.
Bytes LargestTransient(const Plan& plan, const Workload& workload, int stage,
                       const ShardSpec& spec) {
  int64_t elements = 0;
  for (const LayerRange& range : plan.stages[stage].chunks) {
    for (int l = range.first; l < range.first + range.count; ++l) {
      const OperatorGraph& operators = workload.layer(l).operators;
      const auto [begin, end] = boost::vertices(operators);
      for (auto v = begin; v != end; ++v) {
        const Operator& o = operators[*v];
        if (o.kind != OperatorKind::kLinear && o.kind != OperatorKind::kConvolution) continue;
        const int64_t in = o.split == Split::kRow ? o.in_features / spec.tensor : o.in_features;
        const int64_t out =
            o.split == Split::kColumn ? o.out_features / spec.tensor : o.out_features;
        const int64_t read = o.kind == OperatorKind::kConvolution
                                 ? spec.micro_batch * o.input_elements
                                 : spec.Rows(o.positions) * in;
        elements = std::max(elements, read + spec.Rows(o.positions) * out);
      }
    }
  }
  return Bytes(elements * spec.ElementBytes());
}

int64_t LargestLayer(const Plan& plan, const Workload& workload, int stage) {
  int64_t largest = 0;
  for (const LayerRange& range : plan.stages[stage].chunks) {
    for (int l = range.first; l < range.first + range.count; ++l) {
      const Stage& s = plan.stages[stage];
      largest = std::max(
          largest,
          ShardParameters(workload.layer(l), s.tensor_parallel, s.expert_parallel).Total());
    }
  }
  return largest;
}

Bytes CommunicationBuffers(const Plan& plan, const Workload& workload, int stage,
                           const ShardSpec& spec) {
  const Stage& s = plan.stages[stage];
  const int communicators = (s.tensor_parallel > 1) + (s.context_parallel > 1) +
                            (s.replicas.size() > 1) + (plan.stages.size() > 1);
  Bytes bytes = communicators * Bytes(kNcclBuffer * kNcclChannels * kNcclDirections);
  if (plan.stages.size() > 1) {
    // One activation and one gradient under way.
    const LayerRange last = s.chunks.back();
    bytes += 2 * BoundaryBytes(workload.layer(last.first + last.count - 1), spec);
  }
  return bytes;
}

StageMemory ReplicaMemory(const Plan& plan, const Workload& workload, const Cluster& cluster,
                          int stage, int replica) {
  const ShardSpec spec = StageShard(plan, workload, cluster, stage, replica);
  const Stage& s = plan.stages[stage];
  ParameterCount parameters;
  for (const ParameterCount& chunk : ChunkParameters(plan, workload, stage)) parameters += chunk;
  StageMemory memory;
  memory.stage = stage;
  memory.device = s.replicas[replica][0];
  for (const int device : s.replicas[replica]) {
    if (cluster.device(device).memory < cluster.device(memory.device).memory) {
      memory.device = device;
    }
  }
  const Device& device = cluster.device(memory.device);
  memory.capacity = device.memory;
  const auto peers = static_cast<int64_t>(MapOf(plan).Peers(stage).size());
  const int64_t ranks = peers * static_cast<int64_t>(s.replicas.size()) * s.context_parallel;
  const int64_t shards = plan.zero_group > 0 ? plan.zero_group : ranks;
  const bool shards_weights = plan.zero >= 3 && ranks > 1;
  // What one rank keeps of a tensor that is shared out from this ZeRO stage on.
  const auto kept = [&](int from_zero) {
    if (plan.zero < from_zero) return parameters.Total();
    return DivideUp(parameters.dense, shards) +
           DivideUp(parameters.expert, shards / s.expert_parallel);
  };
  memory.weights = Bytes(kept(3) * plan.WorkingBytes());
  memory.workspace = (HasLargeWorkspace(device.generation) ? kHopperWorkspace : kOlderWorkspace) +
                     LargestTransient(plan, workload, stage, spec);
  memory.communication = CommunicationBuffers(plan, workload, stage, spec);
  if (shards_weights) {
    // Two layers are whole, the one that computes and the next one's gather; or
    // all, where they stay until the backward.
    const int64_t whole = plan.reshard_after_forward || plan.forward_only
                              ? 2 * LargestLayer(plan, workload, stage)
                              : parameters.Total();
    memory.workspace += Bytes(whole * plan.WorkingBytes());
  }
  memory.framework = kFrameworkMemory;
  if (plan.forward_only) return memory;

  memory.gradients = Bytes(kept(2) * plan.gradient_bytes);
  memory.optimizer = Bytes(kept(1) * OptimizerBytes(plan));
  memory.activations = PeakActivations(StageOrder(plan, stage, replica),
                                       ChunkActivations(plan, workload, stage, spec));
  return memory;
}

}  // namespace

Bytes StageMemory::Allocated() const {
  return weights + gradients + optimizer + activations + workspace;
}

Bytes StageMemory::Peak() const { return Allocated() + communication + framework + fragmentation; }

std::vector<StageMemory> EstimateMemory(const Plan& plan, const Workload& workload,
                                        const Cluster& cluster) {
  std::vector<StageMemory> stages;
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    // Replicas differ by their micro-batches and the memory of their boards; of
    // those that do not, the first stands for all.
    const int s = static_cast<int>(stage);
    const auto& replicas = plan.stages[stage].replicas;
    const MicroBatchShares shares = StageShares(plan, s);
    std::set<std::pair<Bytes, int>> seen;
    std::optional<StageMemory> fullest;
    for (int r = 0; r < static_cast<int>(replicas.size()); ++r) {
      Bytes capacity = cluster.device(replicas[r][0]).memory;
      for (const int device : replicas[r]) {
        capacity = std::min(capacity, cluster.device(device).memory);
      }
      if (!seen.emplace(capacity, shares.Count(r)).second) continue;
      const StageMemory memory = ReplicaMemory(plan, workload, cluster, s, r);
      const bool is_fuller =
          !fullest || memory.capacity - memory.Peak() < fullest->capacity - fullest->Peak();
      if (is_fuller) fullest = memory;
    }
    stages.push_back(*fullest);
  }
  return stages;
}

std::vector<std::vector<MemoryChange>> MemoryOverTime(const Plan& plan, const Workload& workload,
                                                      const Cluster& cluster,
                                                      const Schedule& schedule,
                                                      const Timeline& timeline) {
  const int ranks = static_cast<int>(schedule.ranks().size());
  std::vector<std::vector<ChunkMemory>> chunks(ranks);
  std::vector<Bytes> used(ranks);
  std::vector<std::vector<MemoryChange>> curves(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const RankInfo& info = schedule.ranks()[rank];
    const StageMemory memory = ReplicaMemory(plan, workload, cluster, info.stage, info.replica);
    chunks[rank] = ChunkActivations(plan, workload, info.stage,
                                    StageShard(plan, workload, cluster, info.stage, info.replica));
    used[rank] = memory.Peak() - memory.activations;
    curves[rank].push_back({Duration(), used[rank]});
  }
  // Along each compute lane tasks are in time order.
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.kind != LaneKind::kCompute || plan.forward_only) continue;
    const auto order = schedule.order(Lane(lane));
    for (size_t i = 0; i < order.size(); ++i) {
      const Tag& tag = schedule.tag(order[i]);
      const auto& next_tag = i + 1 < order.size() ? schedule.tag(order[i + 1]) : tag;
      const bool is_last_part = i + 1 == order.size() || next_tag.segment == 0;
      if (tag.phase == Phase::kForward && tag.segment == 0) {
        used[info.rank] += chunks[info.rank][tag.chunk].saved;
        curves[info.rank].push_back({timeline.start(order[i]), used[info.rank]});
      } else if (IsPass(tag.phase) && tag.phase != Phase::kForward && is_last_part) {
        used[info.rank] = used[info.rank] - chunks[info.rank][tag.chunk].Freed(tag.phase);
        curves[info.rank].push_back({timeline.end(order[i]), used[info.rank]});
      }
    }
  }
  return curves;
}

}  // namespace stagecraft
