#include "sim/plan/plan.h"

#include <algorithm>

#include "sim/plan/asynchronous_plan.h"

namespace stagecraft {
namespace {

// The shares of replicas that take micro-batches in turn.
MicroBatchShares SharesInTurn(const Plan& plan, int stage) {
  const auto replicas = static_cast<int>(plan.stages[stage].replicas.size());
  if (IsAsynchronous(plan.schedule)) return {StretchOf(plan).Total(), replicas};
  return {static_cast<int>(plan.micro_batches()), replicas};
}

}  // namespace

const char* Name(Recompute recompute) {
  constexpr const char* kNames[] = {"none", "selective", "full", "operators"};
  return kNames[static_cast<int>(recompute)];
}

int Plan::device_count() const {
  int count = 0;
  for (const Stage& stage : stages) {
    for (const auto& replica : stage.replicas) count += static_cast<int>(replica.size());
  }
  return count;
}

Placement PlacementOf(const StepOptions& options) {
  return IsCustom(options.schedule) ? options.placement : PlacementOf(options.schedule);
}

ChunkMap MapOf(const Plan& plan) {
  return {PlacementOf(plan), static_cast<int>(plan.stages.size()), plan.chunk_count()};
}

MicroBatchShares StageShares(const Plan& plan, int stage) {
  const Stage& s = plan.stages[stage];
  const bool takes_turns = IsAsynchronous(plan.schedule) || s.replica_micro_batches.empty();
  return takes_turns ? SharesInTurn(plan, stage) : MicroBatchShares(s.replica_micro_batches);
}

int ReplicaMicroBatches(const Plan& plan, int stage, int replica) {
  const std::vector<int>& counts = plan.stages[stage].replica_micro_batches;
  const bool takes_turns = IsAsynchronous(plan.schedule) || counts.empty();
  return takes_turns ? SharesInTurn(plan, stage).Count(replica) : counts[replica];
}

int InnerLayers(const Stage& stage, const Workload& workload) {
  int count = 0;
  for (const LayerRange& chunk : stage.chunks) {
    const int end = std::min(chunk.first + chunk.count, workload.layer_count() - 1);
    count += std::max(0, end - std::max(chunk.first, 1));
  }
  return count;
}

bool HasSeparatePipelines(const Plan& plan) {
  const Stage& first = plan.stages[0];
  return std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
    return stage.replicas.size() == first.replicas.size() &&
           stage.replica_micro_batches == first.replica_micro_batches;
  });
}

bool ReplicasKeepStep(const Plan& plan, int stage) {
  const Stage& s = plan.stages[stage];
  if (s.replicas.size() == 1) return false;
  return plan.zero >= 3 || s.context_parallel % s.expert_parallel != 0;
}

}  // namespace stagecraft
