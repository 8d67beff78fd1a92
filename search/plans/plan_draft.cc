#include "search/plans/plan_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "search/rank_places.h"
#include "search/space.h"

namespace stagecraft {
namespace {

// Returns the part of the draft that lies in that pool.
PlacedSets SetsIn(const Pool& pool, size_t index, const PlanDraft& draft) {
  PlacedSets sets{.first_device = pool.first, .set_devices = 0};
  for (const DraftStage& stage : draft.stages) {
    const int replicas = stage.replicas[index], devices = stage.tensor * draft.context;
    if (replicas == 0) continue;
    ++sets.stages;
    sets.replicas = std::max(sets.replicas, replicas);
    sets.devices += replicas * devices;
    sets.set_devices = std::gcd(sets.set_devices, devices);
  }
  sets.are_all = sets.devices == draft.devices();
  return sets;
}

}  // namespace

int DraftStage::replica_count() const {
  return std::accumulate(replicas.begin(), replicas.end(), 0);
}

int DraftStage::pool() const {
  const auto first = std::find_if(replicas.begin(), replicas.end(), [](int n) { return n > 0; });
  return first == replicas.end() ? 0 : static_cast<int>(first - replicas.begin());
}

bool DraftStage::is_mixed() const {
  return std::count_if(replicas.begin(), replicas.end(), [](int n) { return n > 0; }) > 1;
}

int PlanDraft::replica_count() const {
  int most = 0;
  for (const DraftStage& stage : stages) most = std::max(most, stage.replica_count());
  return most;
}

int PlanDraft::devices() const {
  int sum = 0;
  for (const DraftStage& stage : stages) sum += stage_devices(stage);
  return sum;
}

int PlanDraft::blocks() const {
  int sum = 0;
  for (const DraftStage& stage : stages) sum += stage.blocks;
  return sum;
}

bool PlanDraft::divides_tensors() const {
  return std::any_of(stages.begin(), stages.end(),
                     [](const DraftStage& stage) { return stage.tensor > 1; });
}

std::string PlanDraft::Describe() const {
  std::vector<int> tensors, blocks, replicas;
  for (const DraftStage& stage : stages) {
    tensors.push_back(stage.tensor);
    blocks.push_back(stage.blocks);
    replicas.push_back(stage.replica_count());
  }
  if (std::equal(replicas.begin() + 1, replicas.end(), replicas.begin())) replicas.resize(1);
  return fmt::format("tp {}, layers {}, cp {}, dp {}, micro-batch {}, zero {}",
                     fmt::join(tensors, "-"), fmt::join(blocks, "-"), context,
                     fmt::join(replicas, "-"), micro_batch, zero);
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
  const bool divides = std::any_of(plan.stages.begin(), plan.stages.end(),
                                   [](const Stage& stage) { return stage.tensor_parallel > 1; });
  PlanDraft draft{
      .schedule = plan.schedule,
      .chunks = plan.chunk_count(),
      .context = first.context_parallel,
      .expert = first.expert_parallel,
      .zero = plan.zero,
      .micro_batch = plan.micro_batch,
      .sequence_parallel = divides ? plan.sequence_parallel : problem.given.sequence_parallel != 0,
      .rank_order = plan.rank_order,
      .overlaps_tensor = problem.choices.chooses_tensor_overlap && plan.overlap_tensor,
      .overlaps_gather = problem.choices.chooses_gather_overlap && plan.overlap_param_gather,
      .stages = {}};
  const std::vector<Pool> pools = DraftPools(problem.cluster);
  for (const Stage& stage : plan.stages) {
    DraftStage own{.replicas = std::vector<int>(pools.size()),
                   .tensor = stage.tensor_parallel,
                   .blocks = InnerLayers(stage, problem.workload),
                   .recompute = stage.recompute};
    for (const std::vector<int>& devices : stage.replicas) {
      int pool = 0;
      while (devices[0] >= pools[pool].first + pools[pool].devices) ++pool;
      ++own.replicas[pool];
    }
    draft.stages.push_back(std::move(own));
  }
  return draft;
}

bool OverlapsTensor(const PlanDraft& draft, const SearchProblem& problem) {
  const bool is_chosen = problem.choices.chooses_tensor_overlap;
  return is_chosen ? draft.overlaps_tensor : problem.given.overlap_tensor;
}

bool HasRankOrders(const PlanDraft& draft, const Cluster& cluster) {
  const std::vector<Pool> pools = DraftPools(cluster);
  for (size_t pool = 0; pool < pools.size(); ++pool) {
    if (RankOrderMatters(cluster, SetsIn(pools[pool], pool, draft))) return true;
  }
  return false;
}

PlanDraft Settled(PlanDraft draft, const SearchProblem& problem) {
  const Choices& choices = problem.choices;
  const std::string usual = kDefaultRankOrder;
  if (draft.stages.size() == 1) {
    if (const std::optional<PipelineSchedule> schedule = ScheduleOfOneStage(problem)) {
      draft.schedule = *schedule;
      draft.chunks = 1;
    }
  }
  if (!draft.divides_tensors()) {
    draft.sequence_parallel = problem.given.sequence_parallel != 0;
  }
  const bool is_alone = draft.replica_count() * draft.context == 1;
  if (is_alone && Allows(choices.zeros, 0)) draft.zero = 0;
  draft.overlaps_tensor =
      draft.overlaps_tensor && draft.divides_tensors() && draft.sequence_parallel;
  const bool gathers = !is_alone && (draft.zero == 1 || draft.zero == 2) &&
                       PlacementOf(draft.schedule) != Placement::kBidirectional &&
                       !IsAsynchronous(draft.schedule);
  draft.overlaps_gather = draft.overlaps_gather && gathers;
  if (draft.rank_order == kStagesFirstRankOrder && Allows(choices.rank_orders, usual) &&
      !HasRankOrders(draft, problem.cluster)) {
    draft.rank_order = usual;
  }
  return draft;
}

}  // namespace stagecraft
