#include "sim/lowering/lowering_memory.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "costmodel/hash.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// Beyond these the oldest, or all, are forgotten: some megabytes of a thousand devices.
constexpr size_t kMostPlaced = 256;
constexpr size_t kMostGroups = 10'000;

// Replicas take equally many micro-batches, however many these are.
bool SharesEvenly(const Plan& plan, const Stage& stage) {
  return !IsAsynchronous(plan.order) && stage.replica_micro_batches.empty() &&
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
         (a.order == b.order && a.micro_batches() == b.micro_batches() &&
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
      PlacementOf(plan) != PlacementOf(placed_) || plan.gradient_sync != placed_.gradient_sync ||
      plan.zero_group != placed_.zero_group) {
    return false;
  }
  // Elsewhere who holds the same parameters depends on the number of chunks.
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
    groups = {spec.tensor_fabric, spec.context_fabric, spec.expert_fabric};
  }
  ShardSpec spec = StageDivision(plan, workload_, stage);
  spec.tensor_fabric = groups.tensor;
  spec.context_fabric = groups.context;
  spec.expert_fabric = groups.expert;
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

PlacedPlan& LoweringMemory::Place(const Plan& plan, bool unfold) {
  const auto found = std::find_if(placed_.begin(), placed_.end(), [&](const PlacedPlan& placed) {
    return placed.Holds(plan, unfold);
  });
  if (found != placed_.end()) {
    placed_.splice(placed_.begin(), placed_, found);
  } else {
    placed_.emplace_front(plan, workload_, cluster_, unfold);
    if (placed_.size() > kMostPlaced) placed_.pop_back();
  }
  return placed_.front();
}

const Fabric& LoweringMemory::DescribeGroup(const std::vector<int>& devices) {
  if (groups_.size() > kMostGroups) groups_.clear();
  const auto [entry, is_new] = groups_.try_emplace(devices);
  if (is_new) entry->second = cluster_.DescribeGroup(devices);
  return entry->second;
}

size_t LoweringMemory::DevicesHash::operator()(const std::vector<int>& devices) const {
  Hash hash;
  hash.Add(static_cast<int64_t>(devices.size()));
  for (size_t i = 0; i < devices.size(); i += 1 + devices.size() / 4) hash.Add(devices[i]);
  return hash.value();
}

}  // namespace stagecraft
