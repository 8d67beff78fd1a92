#include "search/training/shrunk_plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace stagecraft {
namespace {

// Replicas r of all stages, if they have equally many, that have all their devices.
std::vector<int> WholeReplicas(const Plan& plan, const std::vector<int>& down) {
  std::vector<int> whole;
  const size_t count = plan.stages[0].replicas.size();
  for (size_t r = 0; r < count; ++r) {
    const bool is_whole = std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& s) {
      return std::none_of(s.replicas[r].begin(), s.replicas[r].end(), [&](int device) {
        return std::binary_search(down.begin(), down.end(), device);
      });
    });
    if (is_whole) whole.push_back(static_cast<int>(r));
  }
  return whole;
}

// How many consecutive replicas share experts.
int ExpertReplicas(const Plan& plan) {
  int most = 1;
  for (const Stage& stage : plan.stages) {
    most = std::max(most, stage.expert_parallel / stage.context_parallel);
  }
  return most;
}

}  // namespace

std::optional<Plan> ShrunkPlan(const Plan& plan, const std::vector<int>& down) {
  if (down.empty()) return plan;
  if (!HasSeparatePipelines(plan)) return std::nullopt;
  std::vector<int> replicas = WholeReplicas(plan, down);
  const int together = ExpertReplicas(plan);
  const auto count_of_group = [&](int replica) {
    return std::count_if(replicas.begin(), replicas.end(),
                         [&](int other) { return other / together == replica / together; });
  };
  std::vector<int> grouped;
  for (const int replica : replicas) {
    if (count_of_group(replica) == together) grouped.push_back(replica);
  }
  bool keeps_step = false;
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    keeps_step |= ReplicasKeepStep(plan, stage);
  }
  size_t count = std::min<size_t>(grouped.size(), static_cast<size_t>(plan.micro_batches()));
  count -= count % static_cast<size_t>(together);
  while (keeps_step && count > 0 && plan.micro_batches() % static_cast<int64_t>(count) != 0) {
    count -= static_cast<size_t>(together);
  }
  if (count == 0) return std::nullopt;
  grouped.resize(count);
  Plan shrunk = plan;
  for (Stage& stage : shrunk.stages) {
    stage.replica_micro_batches.clear();
    std::vector<std::vector<int>> left;
    for (const int replica : grouped) left.push_back(std::move(stage.replicas[replica]));
    stage.replicas = std::move(left);
  }
  return shrunk;
}

}  // namespace stagecraft
