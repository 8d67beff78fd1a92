#include "sim/plan/make_plan.h"

#include <numeric>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "sim/plan/layer_split.h"
#include "sim/plan/recomputed_layers.h"
#include "sim/plan/resolve_degrees.h"

namespace stagecraft {
namespace {

// The distance of devices from one rank to the next along each dimension.
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

// Returns the ranks with this dp and pp index: the tensor index varies fastest, then the context
// index.
std::vector<int> RanksOf(const PlanDegrees& d, const RankStrides& strides, int data, int pipeline) {
  std::vector<int> ranks;
  ranks.reserve(static_cast<size_t>(d.context) * d.tensor);
  for (int cp = 0; cp < d.context; ++cp) {
    for (int tp = 0; tp < d.tensor; ++tp) {
      ranks.push_back(data * strides.data + pipeline * strides.pipeline + cp * strides.context +
                      tp * strides.tensor);
    }
  }
  return ranks;
}

// Returns the ranks of each replica of a stage.
std::vector<std::vector<int>> StageRanks(const PlanDegrees& d, const RankStrides& strides,
                                         int stage) {
  std::vector<std::vector<int>> replicas;
  if (d.stage_replicas.empty()) {
    for (int dp = 0; dp < d.data; ++dp) {
      replicas.push_back(RanksOf(d, strides, dp, stage));
    }
    return replicas;
  }
  const auto own = d.stage_replicas.begin() + stage;
  int rank = std::accumulate(d.stage_replicas.begin(), own, 0) * d.tensor * d.context;
  for (int replica = 0; replica < *own; ++replica) {
    replicas.emplace_back(static_cast<size_t>(d.tensor) * d.context);
    std::iota(replicas.back().begin(), replicas.back().end(), rank);
    rank += d.tensor * d.context;
  }
  return replicas;
}

}  // namespace

std::vector<int> ReplicaRanks(const PlanDegrees& degrees, int stage, int replica) {
  return RanksOf(degrees, StridesOf(degrees), replica, stage);
}

Plan MakePlan(const PlanDegrees& degrees, const Workload& workload, const Cluster& cluster) {
  std::vector<int> devices(cluster.device_count());
  std::iota(devices.begin(), devices.end(), 0);
  return MakePlanOn(devices, degrees, workload, cluster);
}

Plan MakePlanOn(std::span<const int> devices, const PlanDegrees& given, const Workload& workload,
                const Cluster& cluster) {
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
  PlaceLayers(counts, map, plan);
  for (int pp = 0; pp < d.pipeline; ++pp) {
    Stage& stage = plan.stages[pp];
    stage.tensor_parallel = d.tensor;
    stage.context_parallel = d.context;
    stage.expert_parallel = d.expert;
    stage.replica_micro_batches = d.replica_micro_batches;
    stage.replicas = StageRanks(d, strides, pp);
    for (std::vector<int>& replica : stage.replicas) {
      for (int& rank : replica) {
        CHECK(static_cast<size_t>(rank) < devices.size());
        rank = devices[rank];
      }
    }
  }
  ChooseRecomputedLayers(d, workload, plan);
  const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
  if (!errors.empty()) throw InputError(errors[0]);
  return plan;
}

}  // namespace stagecraft
