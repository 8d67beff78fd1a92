#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "sim/asynchronous_plan.h"
#include "sim/plan.h"
#include "sim/plan_limits.h"
#include "sim/recomputed_layers.h"

namespace stagecraft {
namespace {

// Devices from one rank to the next along each dimension.
struct RankStrides {
  int tensor = 0, context = 0, data = 0, pipeline = 0;
};

RankStrides StridesOf(const PlanDegrees& d) {
  const auto dimensions = ParseRankOrder(d.rank_order);
  if (!dimensions.has_value()) throw InputError("rank order: " + RankOrderProblem(d.rank_order));
  RankStrides strides;
  int stride = 1;
  for (const std::string& name : *dimensions) {
    if (name == "tp") {
      strides.tensor = std::exchange(stride, stride * d.tensor);
    } else if (name == "cp") {
      strides.context = std::exchange(stride, stride * d.context);
    } else if (name == "dp") {
      strides.data = std::exchange(stride, stride * d.data);
    } else if (name == "pp") {
      strides.pipeline = std::exchange(stride, stride * d.pipeline);
    }  // experts are divided among ranks that the others count
  }
  return strides;
}

// Devices of (dp, pp): tensor index fastest, then context.
std::vector<int> DevicesOf(const PlanDegrees& d, const RankStrides& strides, int data,
                           int pipeline) {
  std::vector<int> devices;
  devices.reserve(static_cast<size_t>(d.context) * d.tensor);
  for (int cp = 0; cp < d.context; ++cp) {
    for (int tp = 0; tp < d.tensor; ++tp) {
      devices.push_back(data * strides.data + pipeline * strides.pipeline + cp * strides.context +
                        tp * strides.tensor);
    }
  }
  return devices;
}

// By replica of a stage.
std::vector<std::vector<int>> StageDevices(const PlanDegrees& d, const RankStrides& strides,
                                           int stage) {
  std::vector<std::vector<int>> replicas;
  if (d.stage_replicas.empty()) {
    for (int dp = 0; dp < d.data; ++dp) {
      replicas.push_back(DevicesOf(d, strides, dp, stage));
    }
    return replicas;
  }
  const auto own = d.stage_replicas.begin() + stage;
  int device = std::accumulate(d.stage_replicas.begin(), own, 0) * d.tensor * d.context;
  for (int replica = 0; replica < *own; ++replica) {
    replicas.emplace_back(static_cast<size_t>(d.tensor) * d.context);
    std::iota(replicas.back().begin(), replicas.back().end(), device);
    device += d.tensor * d.context;
  }
  return replicas;
}

void CheckPositive(const char* name, int64_t value, int64_t most) {
  if (value < 1 || value > most) {
    throw InputError(fmt::format("{}: got {}, want 1 to {}", name, value, most));
  }
}

// All but those that serve; with a given dp no more than it takes.
int64_t WorkingDevices(const PlanDegrees& d, int64_t model, const Cluster& cluster) {
  const int64_t all = d.devices > 0 ? d.devices : cluster.device_count();
  if (d.gradient_sync.servers <= 0) return all;
  const double groups = static_cast<double>(d.pipeline) * d.tensor * d.expert;
  const double serving = groups * d.gradient_sync.servers;
  const int64_t left = serving < static_cast<double>(all) ? all - static_cast<int64_t>(serving) : 0;
  return d.data > 0 && d.data * model <= left ? d.data * model : left;
}

// Replicas that differ from stage to stage say all that dp would.
void ResolveStageReplicas(const Cluster& cluster, PlanDegrees& d) {
  int64_t replicas = 0;
  for (const int count : d.stage_replicas) {
    CheckPositive("stage replicas", count, kMostOfADegree);
    replicas += count;
  }
  if (static_cast<int>(d.stage_replicas.size()) != d.pipeline) {
    throw InputError(fmt::format("stage replicas: got {} numbers, want one for each of pp {}",
                                 d.stage_replicas.size(), d.pipeline));
  }
  if (d.data != 0 || !d.replica_micro_batches.empty() || d.rank_order != kDefaultRankOrder) {
    throw InputError("stage replicas: want no dp, replica micro-batches or rank order beside them");
  }
  const int64_t devices = replicas * d.tensor * d.context;
  if (devices > cluster.device_count()) {
    throw InputError(
        fmt::format("stage replicas: {} of tp {} x cp {} are {} devices, but {} has {}", replicas,
                    d.tensor, d.context, devices, cluster.name(), cluster.device_count()));
  }
  d.data = *std::max_element(d.stage_replicas.begin(), d.stage_replicas.end());
}

void ResolveData(const Cluster& cluster, PlanDegrees& d) {
  const int64_t model = static_cast<int64_t>(d.tensor) * d.context * d.pipeline;
  const int64_t world = WorkingDevices(d, model, cluster);
  const std::string beside = d.gradient_sync.servers > 0 ? " beside those that serve" : "";
  if (model > world || world % model != 0) {
    throw InputError(
        fmt::format("tp {} x cp {} x pp {} = {} does not divide the {} devices of {}{}", d.tensor,
                    d.context, d.pipeline, model, world, cluster.name(), beside));
  }
  if (d.data != 0 && d.data * model != world) {
    throw InputError(fmt::format("dp: tp {} x cp {} x pp {} x dp {} = {}, but {} has {} devices{}",
                                 d.tensor, d.context, d.pipeline, d.data, d.data * model,
                                 cluster.name(), world, beside));
  }
  d.data = static_cast<int>(world / model);
  const int64_t data_ranks = static_cast<int64_t>(d.data) * d.context;
  if (data_ranks % d.expert != 0) {
    throw InputError(fmt::format("expert parallel: {} does not divide dp {} x cp {} = {}", d.expert,
                                 d.data, d.context, data_ranks));
  }
  const bool is_even = d.replica_micro_batches.empty();
  if (is_even && d.global_batch % (d.micro_batch * d.data) != 0) {
    throw InputError(
        fmt::format("global batch: {} is not a multiple of micro-batch {} x dp {} = {}",
                    d.global_batch, d.micro_batch, d.data, d.micro_batch * d.data));
  }
}

// Layers per virtual stage, in execution order. Every layer counts as one, the
// embedding and the head too where the blocks alone do not divide evenly.
std::vector<int> EvenSplit(int blocks, int virtual_stages) {
  std::vector<int> counts(virtual_stages);
  if (blocks % virtual_stages == 0) {
    std::fill(counts.begin(), counts.end(), blocks / virtual_stages);
    ++counts.front();
    ++counts.back();
    return counts;
  }
  const int units = blocks + 2;
  std::fill(counts.begin(), counts.end(), units / virtual_stages);
  // What is left over goes to the stages after the first, which holds the
  // embedding; the last ones hold the head and keep fewest.
  for (int extra = 0; extra < units % virtual_stages; ++extra) {
    ++counts[(1 + extra) % virtual_stages];
  }
  return counts;
}

// The given blocks of each stage, spread over its chunks; the embedding and
// the head take a layer's place in the first and the last chunk.
std::vector<int> GivenSplit(const std::vector<int>& stage_blocks, const ChunkMap& map) {
  const int chunks = map.length() / map.stages();
  const int head = map.PlaceOf({0, map.length() - 1}).stage;
  std::vector<int> counts(map.length());
  for (int stage = 0; stage < map.stages(); ++stage) {
    const int units = stage_blocks[stage] + (stage == 0) + (stage == head);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      counts[map.PartAt({stage, chunk}).index] = units / chunks + (chunk < units % chunks ? 1 : 0);
    }
  }
  return counts;
}

}  // namespace

std::vector<int> BalancedBlocks(const Workload& workload, int64_t sequence, int stages) {
  CHECK(stages > 1);
  const int last_layer = workload.layer_count() - 1;
  const int blocks = last_layer - 1;
  double in_blocks = 0;
  for (int l = 1; l < last_layer; ++l) in_blocks += workload.ForwardFlops(l, sequence).count();
  const double head = workload.ForwardFlops(last_layer, sequence).count() * blocks / in_blocks;
  const auto fullest = [&](int last) {
    return std::max(head + last, static_cast<double>(DivideUp(blocks - last, stages - 1)));
  };
  int last = 0;
  for (int count = 1; count <= blocks / stages; ++count) {
    if (fullest(count) <= fullest(last)) last = count;
  }
  std::vector<int> split(stages, (blocks - last) / (stages - 1));
  for (int i = 0; i < (blocks - last) % (stages - 1); ++i) ++split[stages - 2 - i];
  split.back() = last;
  return split;
}

PlanDegrees ResolveDegrees(const PlanDegrees& degrees, const Cluster& cluster) {
  PlanDegrees d = degrees;
  if (d.devices < 0 || d.devices > cluster.device_count()) {
    throw InputError(fmt::format("devices: got {}, want at most the {} of {}", d.devices,
                                 cluster.device_count(), cluster.name()));
  }
  CheckPositive("tensor parallel", d.tensor, kMostOfADegree);
  CheckPositive("pipeline parallel", d.pipeline, kMostOfADegree);
  CheckPositive("context parallel", d.context, kMostOfADegree);
  CheckPositive("virtual stages", d.chunks, kMostOfADegree);
  CheckPositive("micro-batch", d.micro_batch, kMostOfABatch);
  CheckPositive("global batch", d.global_batch, kMostOfABatch);
  CheckPositive("sequence", d.sequence, kMostOfABatch);
  CheckPositive("expert parallel", d.expert, kMostOfADegree);
  if (d.stage_replicas.empty()) {
    ResolveData(cluster, d);
  } else {
    ResolveStageReplicas(cluster, d);
  }
  if (d.sequence_parallel < 0) d.sequence_parallel = d.tensor > 1;
  d.sequence_parallel = d.sequence_parallel != 0 && d.tensor > 1;
  if (d.zero < 0) {
    const bool is_plain =
        d.gradient_sync.method == SyncMethod::kAllReduce && !IsAsynchronous(d.order);
    d.zero = is_plain && d.data * d.context > 1 && !d.forward_only ? 1 : 0;
  }
  if (d.gradient_bytes == 0) d.gradient_bytes = d.precision == DType::kFp16 ? 2 : 4;
  if (d.chunks > 1 && d.order == PipelineOrder::kOneForwardOneBackward) {
    d.order = PipelineOrder::kInterleaved;
  }
  const Placement placement = PlacementOf(d);
  // Orders with a shape of their own need not be told how many chunks it has.
  if (d.chunks == 1 && placement != Placement::kLooped) d.chunks = LeastChunks(d.order);
  const std::string problem = FindChunkError(d.order, placement, d.pipeline, d.chunks);
  if (!problem.empty()) throw InputError(problem);
  return d;
}

std::vector<int> PartLayers(const PlanDegrees& d, const Workload& workload) {
  const ChunkMap map(PlacementOf(d), d.pipeline, d.chunks);
  // All but the first layer and the last, which the split places: the blocks,
  // and what else stands between them (the embedding of a decoder).
  const int blocks = workload.layer_count() - 2;
  const int64_t virtual_stages = static_cast<int64_t>(d.pipeline) * d.chunks / map.chains();
  if (virtual_stages > blocks + 2) {
    throw InputError(
        fmt::format("pp {} x virtual stages {} = {} is more than the {} layers of {} (embedding "
                    "and head included)",
                    d.pipeline, d.chunks, virtual_stages, blocks + 2, workload.name));
  }
  if (d.balance_head && d.pipeline > 1) {
    if (!d.stage_blocks.empty() || d.chunks > 1 || blocks < d.pipeline) {
      throw InputError(fmt::format(
          "redistributed vocabulary placement: wants one chunk a stage (got {}), as many "
          "blocks as stages (got {} and {}) and no given layers per stage",
          d.chunks, blocks, d.pipeline));
    }
    return GivenSplit(BalancedBlocks(workload, d.sequence, d.pipeline), map);
  }
  if (d.stage_blocks.empty()) return EvenSplit(blocks, static_cast<int>(virtual_stages));
  int64_t given = 0;
  for (const int stage : d.stage_blocks) {
    if (stage < 0) throw InputError(fmt::format("stage layers: got {}, want at least 0", stage));
    given += stage;
  }
  if (static_cast<int>(d.stage_blocks.size()) != d.pipeline || given != blocks) {
    throw InputError(
        fmt::format("stage layers: {} stages with {} layers in all, want {} stages and {} layers",
                    d.stage_blocks.size(), given, d.pipeline, blocks));
  }
  return GivenSplit(d.stage_blocks, map);
}

std::vector<int> PlacedDevices(const PlanDegrees& degrees, int stage, int replica) {
  return DevicesOf(degrees, StridesOf(degrees), replica, stage);
}

Plan MakePlan(const PlanDegrees& given, const Workload& workload, const Cluster& cluster) {
  const PlanDegrees d = ResolveDegrees(given, cluster);
  const RankStrides strides = StridesOf(d);
  const ChunkMap map(PlacementOf(d), d.pipeline, d.chunks);
  const std::vector<int> counts = PartLayers(d, workload);
  Plan plan;
  static_cast<StepOptions&>(plan) = d;
  plan.sequence_parallel = d.sequence_parallel != 0;
  plan.zero = d.zero;
  plan.gradient_bytes = d.gradient_bytes;
  plan.stages.resize(d.pipeline);
  int first = 0;
  for (Stage& stage : plan.stages) stage.chunks.resize(d.chunks);
  for (int index = 0; index < map.length(); ++index) {
    for (int chain = 0; chain < map.chains(); ++chain) {
      const auto [stage, chunk] = map.PlaceOf({chain, index});
      plan.stages[stage].chunks[chunk] = {first, counts[index]};
    }
    first += counts[index];
  }
  for (int pp = 0; pp < d.pipeline; ++pp) {
    Stage& stage = plan.stages[pp];
    stage.tensor_parallel = d.tensor;
    stage.context_parallel = d.context;
    stage.expert_parallel = d.expert;
    stage.replica_micro_batches = d.replica_micro_batches;
    stage.replicas = StageDevices(d, strides, pp);
  }
  ChooseRecomputedLayers(d, workload, plan);
  const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
  if (!errors.empty()) throw InputError(errors[0]);
  return plan;
}

}  // namespace stagecraft
