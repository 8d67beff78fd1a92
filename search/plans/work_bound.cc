#include "search/plans/work_bound.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "search/space.h"
#include "sim/cluster/topology/interconnect_spec.h"
#include "sim/memory/model_states.h"
#include "sim/plan/layer_division.h"
#include "sim/plan/rank_order.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// Bounds are sums and quotients of doubles, so they are lowered by the rounding error.
constexpr double kRounding = 1 - 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The most places of a pool that are looked at; if it has more, only computation counts.
constexpr int kMostPlaces = 1024;

// Returns whether passes may hide the collectives of others in a plan of the problem.
bool MayPairPasses(const SearchProblem& problem) {
  const std::vector<PipelineSchedule> schedules = SchedulesToTry(problem);
  return problem.given.schedule_options.pairs_passes ||
         std::any_of(schedules.begin(), schedules.end(),
                     [](PipelineSchedule schedule) { return TraitsOf(schedule).pairs_passes; });
}

// Returns whether the ranks of a replica are consecutive devices of a pool, tensor index fastest,
// in every rank order that is tried.
bool AreReplicasConsecutive(const SearchProblem& problem) {
  const std::vector<std::string> orders = RankOrdersToTry(problem);
  return std::all_of(orders.begin(), orders.end(), [](const std::string& order) {
    return order == kDefaultRankOrder || order == kStagesFirstRankOrder;
  });
}

// Returns the layers that stages hold whole, by kind: without the first and the last if the
// vocabulary is divided over all stages.
std::vector<double> LayersByKind(const SearchProblem& problem) {
  const Workload& workload = problem.workload;
  std::vector<double> layers(workload.kinds.size());
  const int ends = IsSplit(problem.given.schedule_options.vocabulary) ? 1 : 0;
  for (int layer = ends; layer < workload.layer_count() - ends; ++layer) {
    layers[workload.layers[layer]] += 1;
  }
  return layers;
}

// Returns whether tensor-parallel collectives may run beside GEMMs, or may not, or both.
std::vector<bool> TensorOverlaps(const SearchProblem& problem, bool splits_tokens) {
  if (!splits_tokens) return {false};
  if (!problem.choices.chooses_tensor_overlap) return {problem.given.overlap_tensor};
  return {false, true};
}

// Returns the tensor degrees that divide the layers of the workload, up to `most`. Profiled layers
// cannot be divided.
std::vector<int> TensorDegrees(const SearchProblem& problem, int most) {
  std::vector<int> degrees;
  if (problem.workload.is_profile()) most = 1;
  for (int tensor = 1; tensor <= most; ++tensor) {
    const bool divides = FindTensorError(problem.workload, tensor).empty();
    if (divides && Allows(problem.choices.tensor, tensor)) degrees.push_back(tensor);
  }
  return degrees;
}

bool DividesTokens(const SearchProblem& problem, int tensor, int context, bool splits_tokens) {
  const PlanDegrees& given = problem.given;
  const bool is_profile = problem.workload.is_profile() && context > 1;
  return !is_profile &&
         FindTokenErrors(problem.workload, {given.sequence, tensor, context,
                                            splits_tokens && tensor > 1, given.context_exchange})
             .empty();
}

// Returns the most that a device earns in a second at these prices of a sample of each layer.
double EarningsOf(const std::vector<double>& prices, const std::vector<double>& needs) {
  double most = 0;
  for (size_t kind = 0; kind < prices.size(); ++kind) {
    if (prices[kind] > 0) most = std::max(most, prices[kind] / needs[kind]);
  }
  return most;
}

}  // namespace

CommonChoices CommonOf(const PlanDraft& draft, const SearchProblem& problem) {
  const bool splits_tokens = draft.sequence_parallel && draft.divides_tensors();
  return {draft.context, draft.expert, draft.micro_batch, splits_tokens,
          splits_tokens && OverlapsTensor(draft, problem)};
}

WorkBound::WorkBound(const SearchProblem& problem)
    : problem_(problem),
      pools_(DraftPools(problem.cluster)),
      most_devices_(
          std::max_element(pools_.begin(), pools_.end(),
                           [](const Pool& a, const Pool& b) { return a.devices < b.devices; })
              ->devices),
      tensors_(TensorDegrees(problem, most_devices_)),
      first_places_(pools_.size()),
      layers_(LayersByKind(problem)),
      knows_groups_(AreReplicasConsecutive(problem)),
      pairs_passes_(MayPairPasses(problem)),
      memo_(problem) {}

std::vector<CommonChoices> WorkBound::AllChoices() const {
  const int given = problem_.given.sequence_parallel;
  const int64_t most = std::min<int64_t>(most_devices_, problem_.given.sequence);
  std::vector<CommonChoices> all;
  for (int context = 1; context <= most; ++context) {
    if (!Allows(problem_.choices.context, context)) continue;
    for (const bool splits_tokens : {false, true}) {
      if (given >= 0 && splits_tokens != (given != 0)) continue;
      const bool divides = std::any_of(tensors_.begin(), tensors_.end(), [&](int tensor) {
        return DividesTokens(problem_, tensor, context, splits_tokens);
      });
      if (!divides) continue;
      for (const int expert : ExpertsToTry(problem_)) {
        for (const int64_t micro_batch : MicroBatchesToTry(problem_)) {
          for (const bool overlaps : TensorOverlaps(problem_, splits_tokens)) {
            all.push_back({context, expert, micro_batch, splits_tokens, overlaps});
          }
        }
      }
    }
  }
  return all;
}

double WorkBound::LeastScore() {
  if (problem_.objective == Objective::kMemory) return LeastMemoryShare();
  double least = kInfinity;
  for (const CommonChoices& common : AllChoices()) least = std::min(least, LeastScore(common));
  return least;
}

double WorkBound::LeastScore(const CommonChoices& common) {
  if (problem_.objective == Objective::kMemory) return LeastMemoryShare();
  const auto [entry, is_new] = least_.try_emplace(common);
  if (!is_new) return entry->second;
  const std::vector<ByKind> needs = NeedsOf(common);
  const double each =
      problem_.objective == Objective::kCost ? LeastCost(needs) : LeastSeconds(needs);
  return entry->second = kRounding * static_cast<double>(problem_.given.global_batch) * each;
}

std::vector<WorkBound::ByKind> WorkBound::NeedsOf(const CommonChoices& common) {
  std::vector<ByKind> needs;
  for (int pool = 0; pool < static_cast<int>(pools_.size()); ++pool) {
    needs.push_back(NeedsIn(pool, common));
  }
  return needs;
}

WorkBound::ByKind WorkBound::NeedsIn(int pool, const CommonChoices& common) {
  PlanDegrees degrees = problem_.given;
  degrees.context = common.context;
  degrees.expert = common.expert;
  degrees.micro_batch = common.micro_batch;
  degrees.overlap_tensor = common.overlaps_tensor;
  ByKind needs;
  for (const int tensor : tensors_) {
    if (int64_t{tensor} * common.context > pools_[pool].devices) break;
    if (!DividesTokens(problem_, tensor, common.context, common.splits_tokens)) continue;
    degrees.tensor = tensor;
    degrees.sequence_parallel = common.splits_tokens && tensor > 1 ? 1 : 0;
    needs.resize(layers_.size(), kInfinity);
    for (const Recompute recompute : RecomputesToTry(problem_)) {
      degrees.recompute = recompute;
      LowerNeeds(pool, degrees, needs);
    }
  }
  return needs;
}

// Places are looked at only where computation alone takes less than what is known.
void WorkBound::LowerNeeds(int pool, const PlanDegrees& degrees, ByKind& needs) {
  const double share =
      1e-9 * degrees.tensor * degrees.context / static_cast<double>(degrees.micro_batch);
  const auto need_of = [&](Duration time) { return share * static_cast<double>(time.ns()); };
  const int device = pools_[pool].first;
  const std::vector<LayerTimes>& alone = memo_.Of(DivisionOf(degrees), device);
  const bool computes_alone =
      pairs_passes_ || !knows_groups_ || degrees.expert > 1 || FirstPlaces(pool) > kMostPlaces;
  bool may_lower = false;
  for (size_t kind = 0; kind < needs.size(); ++kind) {
    const double computation = need_of(alone[kind].forward_compute + alone[kind].backward_compute);
    may_lower = may_lower || computation < needs[kind];
    if (computes_alone) needs[kind] = std::min(needs[kind], computation);
  }
  if (!may_lower || computes_alone) return;
  for (ShardSpec shard : PlacesIn(pool, degrees)) {
    shard.micro_batch = degrees.micro_batch;
    shard.recompute = problem_.given.forward_only ? Recompute::kNone : degrees.recompute;
    const std::vector<LayerTimes>& times = memo_.Of(shard, device);
    for (size_t kind = 0; kind < needs.size(); ++kind) {
      needs[kind] = std::min(needs[kind], need_of(times[kind].forward + times[kind].backward));
    }
  }
}

const std::vector<ShardSpec>& WorkBound::PlacesIn(int pool, const PlanDegrees& degrees) {
  const auto [entry, is_new] = places_.try_emplace(
      {pool, degrees.tensor, degrees.context, degrees.sequence_parallel, degrees.overlap_tensor});
  if (is_new) entry->second = FindPlaces(pool, degrees);
  return entry->second;
}

std::vector<ShardSpec> WorkBound::FindPlaces(int pool, const PlanDegrees& degrees) {
  const int first = pools_[pool].first;
  const int last = pools_[pool].devices - degrees.tensor * degrees.context;
  const int end = std::min(last + 1, FirstPlaces(pool));
  std::vector<ShardSpec> places;
  for (int place = 0; place < end; ++place) {
    ShardSpec shard = ShardAt(first + place, degrees);
    const bool is_new = std::find(places.begin(), places.end(), shard) == places.end();
    if (is_new) places.push_back(std::move(shard));
  }
  return places;
}

// Behind the second domain all is as in the first two, unless nodes are joined in other ways than
// by one switch. A pool may begin within a domain.
int WorkBound::FirstPlaces(int pool) {
  int& places = first_places_[pool];
  if (places > 0) return places;
  const Cluster& cluster = problem_.cluster;
  const Pool& own = pools_[pool];
  if (cluster.has_explicit_links() || !IsSingleSwitch(cluster.interconnect())) {
    return places = own.devices;
  }
  int domain = -1, count = 0;
  for (int device = own.first; device < own.first + own.devices; ++device) {
    const int next = cluster.domain(cluster.place(device).node);
    count = next == domain ? count + 1 : 1;
    domain = next;
    places = std::max(places, 2 * count);
  }
  return places;
}

Plan WorkBound::ProbeOf(const PlanDegrees& degrees, int first_device) const {
  Plan probe = PlanWithoutStages(problem_, degrees.micro_batch, degrees.sequence_parallel != 0, 0);
  probe.overlap_tensor = degrees.overlap_tensor;
  Stage stage;
  stage.tensor_parallel = degrees.tensor;
  stage.context_parallel = degrees.context;
  stage.expert_parallel = degrees.expert;
  stage.recompute = degrees.recompute;
  std::vector<int>& devices = stage.replicas.emplace_back(degrees.tensor * degrees.context);
  std::iota(devices.begin(), devices.end(), first_device);
  probe.stages = {std::move(stage)};
  return probe;
}

ShardSpec WorkBound::DivisionOf(const PlanDegrees& degrees) const {
  return StageDivision(ProbeOf(degrees, 0), problem_.workload, 0);
}

ShardSpec WorkBound::ShardAt(int first_device, const PlanDegrees& degrees) const {
  return StageShard(ProbeOf(degrees, first_device), problem_.workload, problem_.cluster, 0, 0);
}

double WorkBound::LeastSeconds(const std::vector<ByKind>& needs) const {
  double most = 0;
  bool has_pool = false;
  for (const ByKind& reference : needs) {
    if (reference.empty()) continue;
    has_pool = true;
    // A layer that takes no time somewhere is worth nothing.
    ByKind prices = reference;
    for (const ByKind& own : needs) {
      for (size_t kind = 0; kind < own.size(); ++kind) {
        if (own[kind] <= 0 || layers_[kind] == 0) prices[kind] = 0;
      }
    }
    double work = 0, earnings = 0;
    for (size_t kind = 0; kind < prices.size(); ++kind) work += layers_[kind] * prices[kind];
    for (size_t pool = 0; pool < needs.size(); ++pool) {
      if (needs[pool].empty()) continue;
      earnings += pools_[pool].devices * EarningsOf(prices, needs[pool]);
    }
    if (work > 0) most = std::max(most, work / earnings);
  }
  return has_pool ? most : kInfinity;
}

// A device is paid for the whole step, and so at least for the time in which it works.
double WorkBound::LeastCost(const std::vector<ByKind>& needs) const {
  const size_t groups = problem_.cluster.groups().size();
  double cost = 0;
  for (size_t kind = 0; kind < layers_.size(); ++kind) {
    if (layers_[kind] == 0) continue;
    double least = kInfinity;
    for (size_t group = 0; group < groups; ++group) {
      std::vector<int> one(groups);
      one[group] = 1;
      const ByKind& own = needs[needs.size() == 1 ? 0 : group];
      if (!own.empty()) least = std::min(least, own[kind] * CostRate(problem_, one));
    }
    cost += layers_[kind] * least;
  }
  return cost;
}

// The weights of all layers lie on some device, and the fullest device is at least as full as all
// of them together.
double WorkBound::LeastMemoryShare() const {
  Plan probe = PlanWithoutStages(problem_, 1, false, 0);
  Stage stage;
  stage.replicas = {{0}};
  probe.stages = {std::move(stage)};
  const StateSharing sharing = SharingOf(probe, problem_.workload, 0, problem_.framework);
  double weights = 0, memory = 0;
  for (size_t kind = 0; kind < layers_.size(); ++kind) {
    ParameterCount parameters = ShardParameters(problem_.workload.kinds[kind], 1, 1);
    parameters.dense -= problem_.workload.kinds[kind].tied_parameters;
    const ModelStates states = ShareOut(parameters, ParameterCount(), sharing);
    weights += layers_[kind] * static_cast<double>(states.weights.count());
  }
  for (const Pool& pool : pools_) {
    memory += static_cast<double>(pool.memory.count()) * pool.devices;
  }
  return kRounding * weights / memory;
}

}  // namespace stagecraft
