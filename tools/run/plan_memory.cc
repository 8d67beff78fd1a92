#include "tools/run/plan_memory.h"

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "sim/memory/chunk_tensors.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/rank_memory.h"
#include "sim/memory/rank_tensors.h"

namespace stagecraft {
namespace {

PlannedMemory MemoryOf(const RankTensors& rank) {
  PlannedMemory memory;
  memory.states = rank.states.weights + rank.states.gradients + rank.states.optimizer;
  for (const std::shared_ptr<const ChunkTensors>& chunk : rank.chunks) {
    auto& passes = memory.chunks.emplace_back();
    for (size_t phase = 0; phase < passes.size(); ++phase) {
      const PassSummary& summary = chunk->passes[phase].summary;
      passes[phase] = {Bytes(summary.peak), summary.net};
    }
  }
  return memory;
}

Bytes KeptOf(const RankTensors& rank) { return rank.states.weights + rank.states.optimizer; }

// Returns of(tensors) for each rank of the schedule.
template <typename Of>
auto ByRank(const Plan& plan, const Workload& workload, const Cluster& cluster,
            const Schedule& schedule, const Of& of) {
  using Result = decltype(of(RankTensors()));
  RankTensorsMaker maker(workload, cluster, FrameworkMemory());
  std::map<std::pair<int, int>, Result> known;  // by stage and replica
  std::vector<Result> results;
  for (const RankInfo& rank : schedule.ranks()) {
    const auto [entry, is_new] = known.try_emplace({rank.stage, rank.replica});
    if (is_new) entry->second = of(maker.Make(plan, rank.stage, rank.replica));
    results.push_back(entry->second);
  }
  return results;
}

}  // namespace

std::vector<PlannedMemory> PlanMemory(const Plan& plan, const Workload& workload,
                                      const Cluster& cluster, const Schedule& schedule) {
  return ByRank(plan, workload, cluster, schedule, MemoryOf);
}

std::vector<Bytes> KeptStates(const Plan& plan, const Workload& workload, const Cluster& cluster,
                              const Schedule& schedule) {
  return ByRank(plan, workload, cluster, schedule, KeptOf);
}

}  // namespace stagecraft
