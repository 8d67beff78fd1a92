#include "sim/lowering/placed_plan.h"

#include <algorithm>
#include <cstddef>
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
      options_(plan),
      micro_batches_(plan.micro_batches()),
      chunks_(plan.chunk_count()),
      folding_(FoldReplicas(plan, workload, cluster, unfold)),
      world_(cluster.DescribeGroup(AllDevices(plan))),
      described_(cluster) {
  options_.orders.clear();
  for (const Stage& stage : plan.stages) stages_.emplace_back(plan, stage);
}

PlacedPlan::PlacedStage::PlacedStage(const Plan& plan, const Stage& stage)
    : tensor(stage.tensor_parallel),
      context(stage.context_parallel),
      expert(stage.expert_parallel),
      shares_evenly(SharesEvenly(plan, stage)),
      replica_micro_batches(stage.replica_micro_batches) {
  for (const std::vector<int>& replica : stage.replicas) {
    devices.insert(devices.end(), replica.begin(), replica.end());
  }
}

bool PlacedPlan::PlacedStage::Holds(const Stage& stage) const {
  if (std::tie(tensor, context, expert) !=
      std::tie(stage.tensor_parallel, stage.context_parallel, stage.expert_parallel)) {
    return false;
  }
  const auto each = static_cast<size_t>(tensor) * static_cast<size_t>(context);
  if (stage.replicas.size() * each != devices.size()) return false;
  auto own = devices.begin();
  for (const std::vector<int>& replica : stage.replicas) {
    if (replica.size() != each || !std::equal(replica.begin(), replica.end(), own)) return false;
    own += static_cast<ptrdiff_t>(each);
  }
  return true;
}

bool PlacedPlan::Holds(const Plan& plan, bool unfold) const {
  const bool splits_vocabulary = IsSplit(options_.schedule_options.vocabulary);
  if (unfold != unfold_ || plan.stages.size() != stages_.size() ||
      plan.SplitsVocabulary() != splits_vocabulary || PlacementOf(plan) != PlacementOf(options_) ||
      plan.gradient_sync != options_.gradient_sync || plan.zero_group != options_.zero_group ||
      plan.expert_exchange != options_.expert_exchange) {
    return false;
  }
  // With other placements it depends on the number of chunks which ranks hold the same parameters.
  if (PlacementOf(plan) != Placement::kLooped && plan.chunk_count() != chunks_) return false;
  const bool takes_alike =
      plan.schedule == options_.schedule && plan.micro_batches() == micro_batches_;
  for (size_t s = 0; s < stages_.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const bool shares_alike =
        takes_alike && stage.replica_micro_batches == stages_[s].replica_micro_batches;
    if (!shares_alike && !(stages_[s].shares_evenly && SharesEvenly(plan, stage))) return false;
    if (!stages_[s].Holds(stage)) return false;
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
