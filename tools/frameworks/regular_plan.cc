#include "tools/frameworks/regular_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/make_plan.h"

namespace stagecraft {
namespace {

// The layers of every part, in execution order; empty if the pipeline has several chains.
std::vector<int> PartLayersOf(const Plan& plan) {
  const ChunkMap map = MapOf(plan);
  if (map.chains() > 1) return {};
  std::vector<int> counts;
  for (int index = 0; index < map.length(); ++index) {
    const auto [stage, chunk] = map.PlaceOf({0, index});
    counts.push_back(plan.stages[stage].chunks[chunk].count);
  }
  return counts;
}

// Whether the ranges are what RecomputeChoice makes of every chunk.
bool RangesAre(const Plan& plan, const Workload& workload, RecomputeChoice::Method method,
               int count) {
  for (const Stage& stage : plan.stages) {
    std::vector<LayerRange> wanted;
    for (const LayerRange& chunk : stage.chunks) {
      int left = count;
      for (int layer = chunk.first; layer < chunk.first + chunk.count; ++layer) {
        if (workload.layer(layer).role != LayerRole::kBlock) continue;
        const bool continues = method == RecomputeChoice::Method::kUniform && left < count &&
                               left > 0 && !wanted.empty() &&
                               wanted.back().first + wanted.back().count == layer;
        if (continues) {
          ++wanted.back().count;
          --left;
        } else if (method == RecomputeChoice::Method::kUniform || left > 0) {
          wanted.push_back({layer, 1});
          left = method == RecomputeChoice::Method::kUniform ? count - 1 : left - 1;
        }
      }
    }
    std::sort(wanted.begin(), wanted.end(),
              [](const LayerRange& a, const LayerRange& b) { return a.first < b.first; });
    if (wanted != stage.recomputed) return false;
  }
  return true;
}

// Sets how blocks recompute whole; returns whether it is a choice for all stages at once.
bool FindRecomputedBlocks(const Plan& plan, const Workload& workload, RegularPlan& regular) {
  int longest = 0;  // range
  size_t most = 0;  // ranges of a stage
  for (const Stage& stage : plan.stages) {
    most = std::max(most, stage.recomputed.size());
    for (const LayerRange& range : stage.recomputed) longest = std::max(longest, range.count);
  }
  if (most == 0) return true;
  regular.method = RecomputeChoice::Method::kUniform;
  regular.recomputed_blocks = longest;
  if (longest > 1) return RangesAre(plan, workload, regular.method, longest);
  regular.method = RecomputeChoice::Method::kBlock;
  for (size_t count = 1; count <= most; ++count) {
    regular.recomputed_blocks = static_cast<int>(count);
    if (RangesAre(plan, workload, regular.method, regular.recomputed_blocks)) return true;
  }
  return false;
}

bool IsPlacedInOrder(const Plan& plan, const RegularPlan& regular) {
  PlanDegrees degrees;
  degrees.tensor = regular.tensor;
  degrees.context = regular.context;
  degrees.data = regular.data;
  degrees.pipeline = regular.stages;
  degrees.rank_order = plan.rank_order;
  for (int stage = 0; stage < regular.stages; ++stage) {
    for (int replica = 0; replica < regular.data; ++replica) {
      if (plan.stages[stage].replicas[replica] != ReplicaRanks(degrees, stage, replica))
        return false;
    }
  }
  return true;
}

}  // namespace

Regularity FindRegularity(const Plan& plan, const Workload& workload) {
  RegularPlan regular;
  const Stage& first = plan.stages[0];
  regular.tensor = first.tensor_parallel;
  regular.context = first.context_parallel;
  regular.expert = first.expert_parallel;
  regular.data = static_cast<int>(first.replicas.size());
  regular.stages = static_cast<int>(plan.stages.size());
  regular.chunks = plan.chunk_count();
  regular.recompute = first.recompute;
  for (const Stage& stage : plan.stages) {
    if (stage.tensor_parallel != regular.tensor || stage.context_parallel != regular.context) {
      return {regular, fmt::format("stages of different degrees (tp {} and {}, cp {} and {})",
                                   regular.tensor, stage.tensor_parallel, regular.context,
                                   stage.context_parallel)};
    }
    if (stage.replicas.size() != first.replicas.size()) {
      return {regular,
              fmt::format("stages of {} and {} replicas", regular.data, stage.replicas.size())};
    }
    if (stage.expert_parallel != regular.expert) {
      return {regular, "stages of different expert parallelism"};
    }
    if (stage.recompute != regular.recompute) {
      return {regular, "stages that recompute different things"};
    }
    const std::vector<int>& batches = stage.replica_micro_batches;
    if (!batches.empty() && std::any_of(batches.begin(), batches.end(),
                                        [&](int count) { return count != batches[0]; })) {
      return {regular, "replicas that take different numbers of micro-batches"};
    }
  }
  if (plan.micro_batches() % regular.data != 0) {
    return {regular, "replicas that take different numbers of micro-batches"};
  }
  regular.part_layers = PartLayersOf(plan);
  if (regular.part_layers.empty()) {
    return {regular, fmt::format("schedule {}, whose pipeline runs in both directions",
                                 Name(plan.schedule))};
  }
  if (!FindRecomputedBlocks(plan, workload, regular)) {
    return {regular, "recomputation of other blocks than the first ones of every chunk"};
  }
  if (!IsPlacedInOrder(plan, regular)) {
    return {regular, "ranks on other devices than 0, 1, 2 and so on in the rank order"};
  }
  return {regular, ""};
}

}  // namespace stagecraft
