#include "search/plans/plan_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

template <typename T>
bool Allows(const std::vector<T>& choices, T value) {
  return choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
}

template <typename T>
void CheckAllowed(const char* name, const std::vector<T>& choices, T value) {
  if (!Allows(choices, value)) throw InputError(fmt::format("{}: not among the choices", name));
}

void CheckChoices(const PlanDraft& draft, const SearchProblem& problem) {
  const Choices& choices = problem.choices;
  CheckAllowed("cp", choices.context, draft.context);
  CheckAllowed("ep", choices.expert, draft.expert);
  CheckAllowed("pp", choices.pipeline, static_cast<int>(draft.stages.size()));
  CheckAllowed("vpp", choices.chunks, draft.chunks);
  CheckAllowed("micro-batch", choices.micro_batches, draft.micro_batch);
  CheckAllowed("zero", choices.zeros, draft.zero);
  for (const DraftStage& stage : draft.stages) {
    CheckAllowed("tp", choices.tensor, stage.tensor);
    CheckAllowed("recompute", choices.recomputes, stage.recompute);
  }
  if (problem.given.data != 0 && problem.given.data != draft.data) {
    throw InputError(fmt::format("dp: got {}, want {}", draft.data, problem.given.data));
  }
}

using StageReplicaDevices = std::vector<std::vector<std::vector<int>>>;  // by stage, replica

bool IsUniform(const PlanDraft& draft) {
  return std::all_of(draft.stages.begin(), draft.stages.end(), [&](const DraftStage& stage) {
    return stage.tensor == draft.stages[0].tensor && stage.pool == draft.stages[0].pool;
  });
}

// Wherever the degrees' rank order puts them.
StageReplicaDevices PlaceByRank(const PlanDraft& draft, const PlanDegrees& degrees) {
  if (!IsUniform(draft)) throw InputError("rank order: wants stages of equal devices");
  StageReplicaDevices placed(draft.stages.size());
  for (size_t s = 0; s < placed.size(); ++s) {
    for (int r = 0; r < draft.data; ++r) {
      placed[s].push_back(PlacedDevices(degrees, static_cast<int>(s), r));
    }
  }
  return placed;
}

StageReplicaDevices PlaceInPools(const PlanDraft& draft, std::vector<Pool> pools) {
  StageReplicaDevices placed;
  for (const DraftStage& stage : draft.stages) {
    Pool& pool = pools[stage.pool];
    auto& replicas = placed.emplace_back();
    for (int r = 0; r < draft.data; ++r) {
      replicas.emplace_back(stage.tensor * draft.context);
      std::iota(replicas.back().begin(), replicas.back().end(), pool.first);
      pool.first += stage.tensor * draft.context;
    }
  }
  return placed;
}

void CheckDevices(const PlanDraft& draft, const SearchProblem& problem) {
  std::vector<int64_t> left;
  for (const Pool& pool : DraftPools(problem.cluster)) left.push_back(pool.devices);
  for (const DraftStage& stage : draft.stages) {
    left[stage.pool] -= draft.stage_devices(stage);
    if (left[stage.pool] < 0) throw InputError("devices: too few of a kind");
  }
  const bool must_fill = problem.cluster.homogeneous() && !problem.choices.fewer_devices;
  if (must_fill && left[0] > 0) throw InputError(fmt::format("devices: {} are left over", left[0]));
}

// All of a plan that its stages do not say.
PlanDegrees DegreesOf(const PlanDraft& draft, const SearchProblem& problem) {
  PlanDegrees degrees = problem.given;
  degrees.tensor = 1;
  degrees.order = draft.order;
  degrees.chunks = draft.chunks;
  degrees.data = draft.data;
  degrees.context = draft.context;
  degrees.expert = draft.expert;
  degrees.zero = draft.zero;
  degrees.micro_batch = draft.micro_batch;
  degrees.pipeline = static_cast<int>(draft.stages.size());
  degrees.recompute = draft.stages[0].recompute;
  degrees.stage_blocks.clear();
  for (const DraftStage& stage : draft.stages) {
    degrees.tensor = std::max(degrees.tensor, stage.tensor);
    degrees.stage_blocks.push_back(stage.blocks);
  }
  return degrees;
}

// Blocks of each stage of the first chain, where its parts have so many layers.
std::vector<int> StageBlocks(const std::vector<int>& part_layers, const ChunkMap& map) {
  std::vector<int> blocks(map.stages());
  for (int index = 0; index < map.length(); ++index) {
    const bool is_end = index == 0 || index + 1 == map.length();
    const int ends = map.length() == 1 ? 2 : (is_end ? 1 : 0);
    blocks[map.PlaceOf({0, index}).stage] += part_layers[index] - ends;
  }
  return blocks;
}

void PlaceLayers(PlanDegrees degrees, const Workload& workload, Plan& plan) {
  const ChunkMap map(PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  // The usual split where it gives every stage as many: it spreads chunks in its own way.
  const std::vector<int> wanted = std::exchange(degrees.stage_blocks, {});
  std::vector<int> counts = PartLayers(degrees, workload);
  if (StageBlocks(counts, map) != wanted) {
    degrees.stage_blocks = wanted;
    counts = PartLayers(degrees, workload);
  }
  for (Stage& stage : plan.stages) stage.chunks.resize(degrees.chunks);
  int first = 0;
  for (int index = 0; index < map.length(); ++index) {
    for (int chain = 0; chain < map.chains(); ++chain) {
      const auto [stage, chunk] = map.PlaceOf({chain, index});
      plan.stages[stage].chunks[chunk] = {first, counts[index]};
    }
    first += counts[index];
  }
}

}  // namespace

int PlanDraft::devices() const {
  int sum = 0;
  for (const DraftStage& stage : stages) sum += stage_devices(stage);
  return sum;
}

std::string PlanDraft::Describe() const {
  std::vector<int> tensors, blocks;
  for (const DraftStage& stage : stages) {
    tensors.push_back(stage.tensor);
    blocks.push_back(stage.blocks);
  }
  return fmt::format("tp {}, blocks {}, cp {}, dp {}, micro-batch {}, zero {}",
                     fmt::join(tensors, "-"), fmt::join(blocks, "-"), context, data, micro_batch,
                     zero);
}

std::vector<Pool> DraftPools(const Cluster& cluster) {
  std::vector<Pool> pools = PoolsOf(cluster);
  if (cluster.homogeneous()) {
    pools.resize(1);
    pools[0].devices = cluster.device_count();
  }
  return pools;
}

PlanDraft DraftOf(const Plan& plan, const SearchProblem& problem) {
  const Stage& first = plan.stages[0];
  PlanDraft draft{.order = plan.order,
                  .chunks = plan.chunk_count(),
                  .data = static_cast<int>(first.replicas.size()),
                  .context = first.context_parallel,
                  .expert = first.expert_parallel,
                  .zero = plan.zero,
                  .micro_batch = plan.micro_batch,
                  .stages = {}};
  const std::vector<Pool> pools = DraftPools(problem.cluster);
  for (const Stage& stage : plan.stages) {
    int pool = 0;
    while (stage.replicas[0][0] >= pools[pool].first + pools[pool].devices) ++pool;
    int blocks = 0;
    for (const LayerRange& range : stage.chunks) {
      const int end = std::min(range.first + range.count, problem.workload.layer_count() - 1);
      blocks += end - std::max(range.first, 1);
    }
    draft.stages.push_back({pool, stage.tensor_parallel, blocks, stage.recompute});
  }
  return draft;
}

Plan MakePlan(const PlanDraft& draft, const SearchProblem& problem) {
  CheckChoices(draft, problem);
  CheckDevices(draft, problem);
  const PlanDegrees degrees = DegreesOf(draft, problem);
  const std::string error =
      FindChunkError(degrees.order, PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  if (!error.empty()) throw InputError(error);
  Plan plan;
  static_cast<StepOptions&>(plan) = degrees;
  plan.sequence_parallel = degrees.sequence_parallel != 0 && degrees.tensor > 1;
  plan.zero = degrees.zero;
  plan.gradient_bytes = degrees.gradient_bytes != 0 ? degrees.gradient_bytes
                                                    : (degrees.precision == DType::kFp16 ? 2 : 4);
  plan.stages.resize(draft.stages.size());
  PlaceLayers(degrees, problem.workload, plan);
  StageReplicaDevices devices = degrees.rank_order == kDefaultRankOrder
                                    ? PlaceInPools(draft, DraftPools(problem.cluster))
                                    : PlaceByRank(draft, degrees);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    Stage& stage = plan.stages[s];
    stage.tensor_parallel = draft.stages[s].tensor;
    stage.context_parallel = draft.context;
    stage.expert_parallel = draft.expert;
    stage.recompute = draft.stages[s].recompute;
    stage.replicas = std::move(devices[s]);
  }
  const std::vector<std::string> errors = FindErrors(plan, problem.workload, problem.cluster);
  if (!errors.empty()) throw InputError(errors[0]);
  return plan;
}

}  // namespace stagecraft
