#include "sim/plan/plan_order_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/pipeline/order_errors.h"
#include "sim/plan/asynchronous_errors.h"

namespace stagecraft {
namespace {

using Errors = std::vector<std::string>;

// With two directions every parameter is held twice, on stages that reduce its gradients together.
void CheckPeers(const Plan& plan, Errors& errors) {
  const ChunkMap map = MapOf(plan);
  for (int s = 0; s < map.stages(); ++s) {
    const int first = map.Peers(s)[0];
    const Stage& stage = plan.stages[s];
    const Stage& peer = plan.stages[first];
    if (stage.tensor_parallel == peer.tensor_parallel &&
        stage.context_parallel == peer.context_parallel &&
        stage.expert_parallel == peer.expert_parallel) {
      continue;
    }
    errors.push_back(
        fmt::format("stages[{}]: with {} it holds the same layers as stages[{}], want the same "
                    "tensor_parallel, context_parallel and expert_parallel",
                    s, Name(plan.schedule), first));
    return;
  }
}

void CheckBidirectional(const Plan& plan, Errors& errors) {
  if (plan.zero > 1) {
    errors.push_back(fmt::format("zero: {} with {}, want 0 or 1", plan.zero, Name(plan.schedule)));
  }
  if (plan.overlap_param_gather) {
    errors.push_back(fmt::format("overlap_param_gather: not with {}, which gathers after the step",
                                 Name(plan.schedule)));
  }
  if (plan.gradient_sync.method != SyncMethod::kAllReduce) {
    errors.push_back(fmt::format("gradient_sync: {} with {}, want all-reduce",
                                 Name(plan.gradient_sync.method), Name(plan.schedule)));
  }
  CheckPeers(plan, errors);
}

bool SharesExperts(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [](const Stage& stage) { return stage.expert_parallel > 1; });
}

void CheckPairs(const Plan& plan, Errors& errors) {
  if (!Reads(plan.schedule, kReadsPairing)) {
    errors.push_back(fmt::format(
        "pairs_passes: not with {}, want 1f1b, interleaved or listed passes", Name(plan.schedule)));
  } else if (!HasSeparatePipelines(plan)) {
    errors.push_back("pairs_passes: wants the same number of replicas in every stage");
  } else if (plan.SplitsVocabulary()) {
    errors.push_back("pairs_passes: wants the vocabulary in the first and the last stage");
  } else if (!SharesExperts(plan)) {
    errors.push_back(
        "pairs_passes: wants a stage with expert_parallel above 1, without which passes exchange "
        "no tokens");
  } else if (plan.forward_only) {
    errors.push_back("pairs_passes: not with forward_only, where no backward runs");
  } else if (plan.zero > 1) {
    errors.push_back(
        fmt::format("pairs_passes: with zero {}, which divides passes, want 0 or 1", plan.zero));
  } else if (plan.schedule_options.warmup != WarmupPolicy::kA) {
    errors.push_back("pairs_passes: with warmup B, want A, since pairs need their own warm-up");
  }
}

// A plan that lists its passes must run the same micro-batches on every replica.
void CheckGivenOrders(const Plan& plan, Errors& errors) {
  const bool needs_same = IsCustom(plan.schedule) || NeedsCosts(plan.schedule);
  if (!needs_same) return;
  const int count = ReplicaMicroBatches(plan, 0, 0);
  for (size_t replica = 1; replica < plan.stages[0].replicas.size(); ++replica) {
    if (ReplicaMicroBatches(plan, 0, static_cast<int>(replica)) == count) continue;
    errors.push_back(fmt::format(
        "order: {} wants the same number of micro-batches in every replica", Name(plan.schedule)));
    return;
  }
  const bool is_given = IsCustom(plan.schedule) || !plan.orders.empty();
  if (is_given && plan.orders.size() != plan.stages.size()) {
    errors.push_back(fmt::format("orders: got {}, want one for each of {} stages",
                                 plan.orders.size(), plan.stages.size()));
    return;
  }
  if (!is_given) return;
  const auto problem = FindOrderError(MapOf(plan), plan.orders, count, plan.forward_only);
  if (problem) errors.push_back("order: " + *problem);
}

// Checks the numbers of micro-batches and replicas that the pipeline schedule takes.
void CheckMicroBatches(const Plan& plan, Errors& errors) {
  int64_t most = 0;
  for (const Stage& stage : plan.stages) {
    most = std::max<int64_t>(most, static_cast<int64_t>(stage.replicas.size()));
  }
  if (plan.micro_batches() < most) {
    errors.push_back(fmt::format("global_batch: {} micro-batches leave some of {} replicas idle",
                                 plan.micro_batches(), most));
    return;
  }
  if (TraitsOf(plan.schedule).unequal_replicas == UnequalReplicas::kRefused &&
      !HasSeparatePipelines(plan)) {
    errors.push_back(fmt::format("order: {} wants the same number of replicas in every stage",
                                 Name(plan.schedule)));
    return;
  }
  if (!HasSeparatePipelines(plan)) return;
  const ChunkMap map = MapOf(plan);
  int last = -1;
  for (int replica = 0; replica < static_cast<int>(plan.stages[0].replicas.size()); ++replica) {
    const int count = ReplicaMicroBatches(plan, 0, replica);
    if (std::exchange(last, count) == count) continue;
    const std::string problem = FindMicroBatchError(plan.schedule, map, count);
    if (problem.empty()) continue;
    errors.push_back(problem);
    return;
  }
  CheckGivenOrders(plan, errors);
}

bool RunsHalves(const Plan& plan) {
  if (!IsCustom(plan.schedule)) return SplitsBackward(plan.schedule);
  return std::any_of(plan.orders.begin(), plan.orders.end(), [](const PassOrder& order) {
    return std::any_of(order.begin(), order.end(),
                       [](const Pass& pass) { return pass.phase == Phase::kBackwardWeight; });
  });
}

}  // namespace

void FindOrderErrors(const Plan& plan, const Workload& workload, Errors& errors) {
  if (MapOf(plan).chains() > 1) CheckBidirectional(plan, errors);
  if (plan.schedule_options.pairs_passes) CheckPairs(plan, errors);
  const int group = plan.schedule_options.groups.size;
  if (group != 0 && group < static_cast<int>(plan.stages.size())) {
    errors.push_back(fmt::format("order_group: got {}, want at least the {} stages, or 0", group,
                                 plan.stages.size()));
  }
  if (workload.is_profile() && !plan.forward_only && RunsHalves(plan)) {
    errors.push_back(
        fmt::format("order: {} runs input and weight gradients apart, but the profile of {} has "
                    "only whole backwards",
                    Name(plan.schedule), workload.name));
  }
  CheckMicroBatches(plan, errors);
  if (IsAsynchronous(plan.schedule) && errors.empty()) {
    FindAsynchronousErrors(plan, workload, errors);
  }
}

}  // namespace stagecraft
