#include "sim/lowering/placed_plan.h"

#include <tuple>

#include "sim/lowering/exchange_devices.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// Whether replicas take equally many micro-batches, whatever the number of these is.
bool SharesEvenly(const Plan& plan, const Stage& stage) {
  return !IsAsynchronous(plan.schedule) && stage.replica_micro_batches.empty() &&
         plan.micro_batches() % static_cast<int64_t>(stage.replicas.size()) == 0;
}

bool PlacesAlike(const Plan& a, const Plan& b, int stage) {
  const Stage& x = a.stages[stage];
  const Stage& y = b.stages[stage];
  if (std::tie(x.tensor_parallel, x.context_parallel, x.expert_parallel) !=
          std::tie(y.tensor_parallel, y.context_parallel, y.expert_parallel) ||
      x.replicas != y.replicas) {
    return false;
  }
  return (SharesEvenly(a, x) && SharesEvenly(b, y)) ||
         (a.schedule == b.schedule && a.micro_batches() == b.micro_batches() &&
          x.replica_micro_batches == y.replica_micro_batches);
}

Plan WithoutLayers(const Plan& plan) {
  Plan placed = plan;
  placed.orders.clear();
  for (Stage& stage : placed.stages) {
    for (LayerRange& chunk : stage.chunks) chunk = {};
    stage.recomputed.clear();
  }
  return placed;
}

std::vector<int> AllDevices(const Plan& plan) {
  std::vector<int> devices;
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      devices.insert(devices.end(), replica.begin(), replica.end());
    }
  }
  return devices;
}

}  // namespace

PlacedPlan::PlacedPlan(const Plan& plan, const Workload& workload, const Cluster& cluster,
                       bool unfold)
    : workload_(workload),
      cluster_(cluster),
      unfold_(unfold),
      placed_(WithoutLayers(plan)),
      folding_(FoldReplicas(plan, workload, cluster, unfold)),
      world_(cluster.DescribeGroup(AllDevices(plan))),
      described_(cluster) {}

bool PlacedPlan::Holds(const Plan& plan, bool unfold) const {
  if (unfold != unfold_ || plan.stages.size() != placed_.stages.size() ||
      plan.SplitsVocabulary() != placed_.SplitsVocabulary() ||
      PlacementOf(plan) != PlacementOf(placed_) || plan.gradient_sync != placed_.gradient_sync ||
      plan.zero_group != placed_.zero_group || plan.expert_exchange != placed_.expert_exchange) {
    return false;
  }
  // With other placements it depends on the number of chunks which ranks hold the same parameters.
  if (PlacementOf(plan) != Placement::kLooped && plan.chunk_count() != placed_.chunk_count()) {
    return false;
  }
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    if (!PlacesAlike(plan, placed_, stage)) return false;
  }
  return true;
}

ShardSpec PlacedPlan::Shard(const Plan& plan, int stage, int replica) {
  const auto [entry, is_new] = groups_.try_emplace({stage, replica});
  Groups& groups = entry->second;
  if (is_new) {
    const ShardSpec spec = StageShard(plan, workload_, cluster_, stage, replica);
    groups = {spec.tensor_fabric, spec.context_fabric, spec.expert_fabric, spec.expert_node_fabric,
              spec.expert_rail_fabric};
  }
  ShardSpec spec = StageDivision(plan, workload_, stage);
  spec.tensor_fabric = groups.tensor;
  spec.context_fabric = groups.context;
  spec.expert_fabric = groups.expert;
  spec.expert_node_fabric = groups.expert_node;
  spec.expert_rail_fabric = groups.expert_rail;
  return spec;
}

const std::vector<Fabric>& PlacedPlan::Messages(const Plan& plan, int from_stage, int from_replica,
                                                int to_stage, int to_replica) {
  const auto [entry, is_new] =
      messages_.try_emplace({from_stage, from_replica, to_stage, to_replica});
  if (is_new) {
    entry->second =
        described_.Describe(FindMessages(plan, from_stage, from_replica, to_stage, to_replica));
  }
  return entry->second;
}

}  // namespace stagecraft
