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

// Calls take(rank) for the ranks with this dp and pp index: the tensor index varies fastest, then
// the context index.
template <typename Take>
void ForEachRank(const PlanDegrees& d, const RankStrides& strides, int data, int pipeline,
                 Take take) {
  const int first = data * strides.data + pipeline * strides.pipeline;
  for (int cp = 0; cp < d.context; ++cp) {
    for (int tp = 0; tp < d.tensor; ++tp) {
      take(first + cp * strides.context + tp * strides.tensor);
    }
  }
}

// Returns the devices of each replica of a stage.
std::vector<std::vector<int>> StageDevices(const PlanDegrees& d, const RankStrides& strides,
                                           int stage, std::span<const int> devices) {
  std::vector<std::vector<int>> replicas;
  const int each = d.tensor * d.context;
  const auto device_of = [&](int rank) {
    CHECK(static_cast<size_t>(rank) < devices.size());
    return devices[rank];
  };
  if (d.stage_replicas.empty()) {
    replicas.reserve(d.data);
    for (int dp = 0; dp < d.data; ++dp) {
      std::vector<int>& own = replicas.emplace_back();
      own.reserve(each);
      ForEachRank(d, strides, dp, stage, [&](int rank) { own.push_back(device_of(rank)); });
    }
    return replicas;
  }
  const auto own = d.stage_replicas.begin() + stage;
  int rank = std::accumulate(d.stage_replicas.begin(), own, 0) * each;
  for (int replica = 0; replica < *own; ++replica) {
    std::vector<int>& taken = replicas.emplace_back();
    for (int i = 0; i < each; ++i) taken.push_back(device_of(rank++));
  }
  return replicas;
}

}  // namespace

std::vector<int> ReplicaRanks(const PlanDegrees& degrees, int stage, int replica) {
  std::vector<int> ranks;
  ForEachRank(degrees, StridesOf(degrees), replica, stage,
              [&](int rank) { ranks.push_back(rank); });
  return ranks;
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
    stage.replicas = StageDevices(d, strides, pp, devices);
  }
  ChooseRecomputedLayers(d, workload, plan);
  const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
  if (!errors.empty()) throw InputError(errors[0]);
  return plan;
}

}  // namespace stagecraft
