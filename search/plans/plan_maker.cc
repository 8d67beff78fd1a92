#include "search/plans/plan_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "search/layer_times.h"
#include "search/pool_placement.h"
#include "sim/plan/layer_split.h"
#include "sim/plan/make_plan.h"

namespace stagecraft {
namespace {

template <typename T>
void CheckAllowed(const char* name, const std::vector<T>& choices, const T& value) {
  if (!Allows(choices, value)) throw InputError(fmt::format("{}: not among the choices", name));
}

// Returns the degrees of the plan as a whole, with the layers of each stage.
PlanDegrees DegreesOf(const PlanDraft& draft, const SearchProblem& problem) {
  PlanDegrees degrees = problem.given;
  degrees.tensor = 1;
  degrees.schedule = draft.schedule;
  degrees.chunks = draft.chunks;
  degrees.data = draft.replica_count();
  degrees.context = draft.context;
  degrees.expert = draft.expert;
  degrees.zero = draft.zero;
  degrees.micro_batch = draft.micro_batch;
  degrees.sequence_parallel = draft.sequence_parallel ? 1 : 0;
  degrees.rank_order = draft.rank_order;
  degrees.pipeline = static_cast<int>(draft.stages.size());
  degrees.recompute = draft.stages[0].recompute;
  degrees.stage_blocks.clear();
  for (const DraftStage& stage : draft.stages) {
    degrees.tensor = std::max(degrees.tensor, stage.tensor);
    degrees.stage_blocks.push_back(stage.blocks);
  }
  return degrees;
}

// Returns the number of transformer blocks of each stage of the first chain, if its parts have
// these numbers of layers.
std::vector<int> StageBlocks(const std::vector<int>& part_layers, const ChunkMap& map) {
  std::vector<int> blocks(map.stages());
  for (int index = 0; index < map.length(); ++index) {
    const bool is_end = index == 0 || index + 1 == map.length();
    const int ends = map.length() == 1 ? 2 : (is_end ? 1 : 0);
    blocks[map.PlaceOf({0, index}).stage] += part_layers[index] - ends;
  }
  return blocks;
}

// Returns the numbers of layers of the parts: those of the usual split if it gives each stage the
// wanted number of layers, since that split spreads layers over chunks in its own way.
std::vector<int> PartsOf(PlanDegrees degrees, const ChunkMap& map, const Workload& workload) {
  const std::vector<int> wanted = std::exchange(degrees.stage_blocks, {});
  std::vector<int> counts = PartLayers(degrees, workload);
  if (StageBlocks(counts, map) == wanted) return counts;
  degrees.stage_blocks = wanted;
  return PartLayers(degrees, workload);
}

bool IsUniform(const PlanDraft& draft) {
  const DraftStage& first = draft.stages[0];
  return !first.is_mixed() &&
         std::all_of(draft.stages.begin(), draft.stages.end(), [&](const DraftStage& stage) {
           return stage.tensor == first.tensor && stage.replicas == first.replicas;
         });
}

// Places replicas where the rank order of the degrees puts them.
PlacedReplicas PlaceByRank(const PlanDraft& draft, const PlanDegrees& degrees) {
  if (!IsUniform(draft)) throw InputError("rank order: wants stages of equal devices");
  PlacedReplicas placed(draft.stages.size());
  for (size_t s = 0; s < placed.size(); ++s) {
    for (int r = 0; r < degrees.data; ++r) {
      placed[s].push_back(ReplicaRanks(degrees, static_cast<int>(s), r));
    }
  }
  return placed;
}

PlacedReplicas Place(const PlanDraft& draft, const PlanDegrees& degrees,
                     const std::vector<Pool>& pools) {
  const bool stages_first = draft.rank_order == kStagesFirstRankOrder;
  if (!stages_first && draft.rank_order != kDefaultRankOrder) return PlaceByRank(draft, degrees);
  std::vector<PooledReplicas> stages;
  for (const DraftStage& stage : draft.stages) {
    stages.push_back({stage.replicas, stage.tensor * draft.context});
  }
  return PlaceInPools(pools, stages, stages_first);
}

}  // namespace

PlanMaker::PlanMaker(const SearchProblem& problem)
    : problem_(problem), pools_(DraftPools(problem.cluster)) {}

namespace {

// Throws InputError if the tensor ranks of a stage do not lie within scale-up domains.
void CheckDomains(const Plan& plan, const Cluster& cluster) {
  for (const Stage& stage : plan.stages) {
    const int tensor = stage.tensor_parallel;
    for (const std::vector<int>& devices : stage.replicas) {
      for (size_t rank = 0; rank < devices.size(); ++rank) {
        const int first = devices[rank / tensor * tensor];
        if (cluster.domain(cluster.place(first).node) ==
            cluster.domain(cluster.place(devices[rank]).node)) {
          continue;
        }
        throw InputError("overlap-tp: a group of tensor ranks leaves its scale-up domain");
      }
    }
  }
}

}  // namespace

void PlanMaker::CheckChoices(const PlanDraft& draft) const {
  const Choices& choices = problem_.choices;
  CheckAllowed("cp", choices.context, draft.context);
  CheckAllowed("ep", choices.expert, draft.expert);
  CheckAllowed("pp", choices.pipeline, static_cast<int>(draft.stages.size()));
  CheckAllowed("vpp", choices.chunks, draft.chunks);
  CheckAllowed("micro-batch", choices.micro_batches, draft.micro_batch);
  CheckAllowed("zero", choices.zeros, draft.zero);
  CheckAllowed("rank order", choices.rank_orders, draft.rank_order);
  const int given = problem_.given.sequence_parallel;
  if (given >= 0 && draft.sequence_parallel != (given != 0)) {
    throw InputError("sequence parallel: not as given");
  }
  for (const DraftStage& stage : draft.stages) {
    CheckAllowed("tp", choices.tensor, stage.tensor);
    CheckAllowed("recompute", choices.recomputes, stage.recompute);
    const int replicas = stage.replica_count();
    if (problem_.given.data != 0 && problem_.given.data != replicas) {
      throw InputError(fmt::format("dp: got {}, want {}", replicas, problem_.given.data));
    }
  }
}

void PlanMaker::CheckDevices(const PlanDraft& draft) const {
  std::vector<int64_t> left;
  for (const Pool& pool : pools_) left.push_back(pool.devices);
  for (const DraftStage& stage : draft.stages) {
    if (stage.replica_count() < 1) throw InputError("dp: a stage has no replica");
    for (size_t pool = 0; pool < left.size(); ++pool) {
      left[pool] -= int64_t{stage.tensor} * draft.context * stage.replicas[pool];
      if (left[pool] < 0) throw InputError("devices: too few of a GPU type");
    }
  }
  const bool must_fill =
      problem_.cluster.homogeneous() && problem_.choices.device_counts == DeviceCounts::kAll;
  if (must_fill && left[0] > 0) throw InputError(fmt::format("devices: {} are left over", left[0]));
}

Duration PlanMaker::BlockTime(const PlanDraft& draft, const DraftStage& stage, int pool) const {
  const std::array<int64_t, 6> key{pool,
                                   stage.tensor,
                                   draft.context,
                                   draft.micro_batch,
                                   static_cast<int64_t>(stage.recompute),
                                   draft.sequence_parallel};
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = block_times_.try_emplace(key);
  if (!is_new) return entry->second;
  Plan probe = PlanWithoutStages(problem_, draft.micro_batch,
                                 draft.sequence_parallel && stage.tensor > 1, 0);
  Stage own{.chunks = {{1, 1}},
            .tensor_parallel = stage.tensor,
            .context_parallel = draft.context,
            .replicas = {std::vector<int>(stage.tensor * draft.context)},
            .recompute = stage.recompute};
  std::iota(own.replicas[0].begin(), own.replicas[0].end(), pools_[pool].first);
  probe.stages = {std::move(own)};
  const LayerTimes block = MeasureLayers(problem_, probe)[problem_.workload.layers[1]];
  return entry->second = std::max(block.forward + block.backward, block.launches);
}

std::vector<int> PlanMaker::Shares(const PlanDraft& draft, const DraftStage& stage) const {
  std::vector<Duration> times;  // by replica
  for (size_t pool = 0; pool < pools_.size(); ++pool) {
    if (stage.replicas[pool] == 0) continue;
    times.insert(times.end(), stage.replicas[pool],
                 BlockTime(draft, stage, static_cast<int>(pool)));
  }
  const auto count = static_cast<int>(times.size());
  const int64_t micro_batches = problem_.given.global_batch / draft.micro_batch;
  if (micro_batches < count) throw InputError("dp: fewer micro-batches than replicas");
  // Each replica takes one micro-batch; every further one goes to the replica that ends it first.
  std::vector<int> shares(count, 1);
  using Next = std::pair<Duration, int>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ends;
  for (int r = 0; r < count; ++r) ends.push({2 * times[r], r});
  for (int64_t left = micro_batches - count; left > 0; --left) {
    const auto [end, r] = ends.top();
    ends.pop();
    ++shares[r];
    ends.push({end + times[r], r});
  }
  return shares;
}

Plan PlanMaker::Make(const PlanDraft& draft) const {
  CheckChoices(draft);
  CheckDevices(draft);
  const PlanDegrees degrees = DegreesOf(draft, problem_);
  const std::string error =
      FindChunkError(degrees.schedule, PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  if (!error.empty()) throw InputError(error);
  if (degrees.pipeline == 1 && degrees.chunks > 1) throw InputError("chunks: want several stages");
  Plan plan = PlanWithoutStages(problem_, draft.micro_batch,
                                draft.sequence_parallel && degrees.tensor > 1, draft.zero);
  plan.schedule = draft.schedule;
  plan.rank_order = draft.rank_order;
  const Choices& choices = problem_.choices;
  if (choices.chooses_tensor_overlap) plan.overlap_tensor = draft.overlaps_tensor;
  if (choices.chooses_gather_overlap) plan.overlap_param_gather = draft.overlaps_gather;
  plan.overlap_p2p = OverlapsSends(choices, problem_.given, draft.schedule);
  plan.stages.resize(draft.stages.size());
  const ChunkMap map(PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  PlaceLayers(PartsOf(degrees, map, problem_.workload), map, plan);
  PlacedReplicas placed = Place(draft, degrees, pools_);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const DraftStage& own = draft.stages[s];
    Stage& stage = plan.stages[s];
    stage.tensor_parallel = own.tensor;
    stage.context_parallel = draft.context;
    stage.expert_parallel = draft.expert;
    stage.recompute = own.recompute;
    stage.replicas = std::move(placed[s]);
    if (own.is_mixed()) stage.replica_micro_batches = Shares(draft, own);
  }
  if (choices.chooses_tensor_overlap && plan.overlap_tensor) CheckDomains(plan, problem_.cluster);
  const std::vector<std::string> errors = FindErrors(plan, problem_.workload, problem_.cluster);
  if (!errors.empty()) throw InputError(errors[0]);
  return plan;
}

bool PlanMaker::IsPlan(const PlanDraft& draft) const {
  try {
    Make(draft);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace stagecraft
