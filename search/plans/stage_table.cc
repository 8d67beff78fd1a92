#include "search/plans/stage_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "search/shard_places.h"
#include "search/space.h"
#include "sim/memory/framework_memory.h"
#include "sim/pipeline/in_flight.h"

namespace stagecraft {
namespace {

// The most sets of devices of a pool that are considered: what repeats from node to node shows in a
// few of them.
constexpr int kMostPlaces = 64;

// Returns a plan of one stage on the first devices of the choice's pool: what it holds does not
// depend on which devices these are.
Plan ProbeOf(const SearchProblem& problem, const PlanDraft& shape, const StageChoice& choice,
             const Pool& pool) {
  Plan probe = PlanWithoutStages(problem, shape.micro_batch,
                                 shape.sequence_parallel && choice.tensor > 1, shape.zero);
  if (problem.choices.chooses_tensor_overlap) {
    probe.overlap_tensor = probe.sequence_parallel && shape.overlaps_tensor;
  }
  Stage stage;
  stage.chunks = {{0, problem.workload.layer_count()}};
  stage.tensor_parallel = choice.tensor;
  stage.context_parallel = shape.context;
  stage.expert_parallel = shape.expert;
  stage.recompute = choice.recompute;
  int first = pool.first;
  for (int replica = 0; replica < choice.replicas; ++replica) {
    stage.replicas.emplace_back(choice.tensor * shape.context);
    std::iota(stage.replicas.back().begin(), stage.replicas.back().end(), first);
    first += choice.tensor * shape.context;
  }
  probe.stages = {std::move(stage)};
  return probe;
}

// Returns the degrees that determine the groups and the work of a stage.
PlanDegrees DegreesOf(const SearchProblem& problem, const PlanDraft& shape,
                      const StageChoice& choice) {
  PlanDegrees degrees = problem.given;
  degrees.tensor = choice.tensor;
  degrees.context = shape.context;
  degrees.expert = shape.expert;
  degrees.micro_batch = shape.micro_batch;
  degrees.sequence_parallel = shape.sequence_parallel && choice.tensor > 1;
  degrees.overlap_tensor = OverlapsTensor(shape, problem);
  degrees.recompute = choice.recompute;
  degrees.rank_order = kDefaultRankOrder;
  return degrees;
}

// Returns the layers of a run of transformer blocks, with the embedding or head if the run is at an
// end of the network.
LayerRange LayersOf(int first, int count, int blocks) {
  const int begin = first == 0 ? 0 : first + 1;
  const int end = first + count == blocks ? blocks + 2 : first + count + 1;
  return {begin, end - begin};
}

// Returns the times of one micro-batch, by kind of layer: the least over the choice's places.
std::vector<LayerTimes> LeastTimes(const SearchProblem& problem, const PlanDraft& shape,
                                   const StageChoice& choice) {
  const Pool pool = DraftPools(problem.cluster)[choice.pool];
  const int set = choice.tensor * shape.context * SharingReplicas(shape.expert, shape.context);
  std::vector<int> devices(std::min(pool.devices, kMostPlaces * set));
  std::iota(devices.begin(), devices.end(), pool.first);
  ShardPlaces places(problem, std::move(devices));
  const Device& gpu = problem.cluster.device(places.devices()[0]);
  std::vector<LayerTimes> least;
  for (const ShardSpec& shard : places.ShardsOf(DegreesOf(problem, shape, choice))) {
    std::vector<LayerTimes> times = MeasureLayers(problem, shard, gpu);
    least = least.empty() ? std::move(times) : LeastOf(least, times);
  }
  return least;
}

// Returns a value for each kind of layer that occurs: that of its first layer.
template <typename Measure>
std::vector<Bytes> OfKinds(const Workload& workload, Measure measure) {
  std::vector<std::optional<Bytes>> values(workload.kinds.size());
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    std::optional<Bytes>& own = values[workload.layers[layer]];
    if (!own) own = measure(layer);
  }
  std::vector<Bytes> bytes;
  for (const std::optional<Bytes>& value : values) bytes.push_back(value.value_or(Bytes()));
  return bytes;
}

}  // namespace

// Saved activations may depend on the sharding. Groups of experts extend over several replicas;
// otherwise all replicas are alike.
const StageMemo::Layers& StageMemo::LayersOf(const PlanDraft& shape, const StageChoice& choice,
                                             const Plan& probe) {
  const Key key{choice.pool,          choice.tensor,
                shape.context,        shape.expert,
                shape.micro_batch,    probe.sequence_parallel,
                probe.overlap_tensor, static_cast<int64_t>(choice.recompute),
                probe.zero,           shape.expert > 1 ? choice.replicas : 0};
  {
    const std::lock_guard lock(mutex_);
    const auto known = layers_.find(key);
    if (known != layers_.end()) return *known->second;
  }
  auto measured = std::make_unique<const Layers>(Measure(shape, choice, probe));
  const std::lock_guard lock(mutex_);
  return *layers_.try_emplace(key, std::move(measured)).first->second;
}

StageMemo::Layers StageMemo::Measure(const PlanDraft& shape, const StageChoice& choice,
                                     const Plan& probe) const {
  return {LeastTimes(problem_, shape, choice), OfKinds(problem_.workload, [&](int layer) {
            return MeasureLayerMemory(problem_, probe, layer).saved;
          })};
}

const std::vector<Bytes>& StageMemo::StatesOf(const PlanDraft& shape, const StageChoice& choice,
                                              const Plan& probe) {
  const Key key{choice.tensor, shape.context, shape.expert, choice.replicas, probe.zero};
  {
    const std::lock_guard lock(mutex_);
    const auto known = states_.find(key);
    if (known != states_.end()) return *known->second;
  }
  auto measured = std::make_unique<const std::vector<Bytes>>(
      OfKinds(problem_.workload, [&](int layer) { return LayerStates(problem_, probe, layer); }));
  const std::lock_guard lock(mutex_);
  return *states_.try_emplace(key, std::move(measured)).first->second;
}

StageTable::StageTable(const SearchProblem& problem, const PlanDraft& shape, StageMemo& memo)
    : problem_(problem),
      shape_(shape),
      replicas_(shape.replica_count()),
      blocks_(problem.workload.layer_count() - 2),
      micro_batches_(problem.given.global_batch / replicas_ / shape.micro_batch),
      pools_(DraftPools(problem.cluster)) {
  const Choices& choices = problem.choices;
  const bool selects = problem.workload.attention == AttentionBackend::kUnfused;
  for (int p = 0; p < static_cast<int>(pools_.size()); ++p) {
    const Pool& pool = pools_[p];
    for (int tensor = 1; tensor <= std::min(kMostTensor, pool.devices); ++tensor) {
      if (!Allows(choices.tensor, tensor)) continue;
      if (tensor > pool.node_devices && tensor % pool.node_devices != 0) continue;
      for (const Recompute recompute :
           {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
        if (!Allows(choices.recomputes, recompute)) continue;
        if (recompute == Recompute::kSelective && !selects) continue;
        AddChoices(p, tensor, recompute, memo);
      }
    }
  }
}

StageTable::StageTable(const SearchProblem& problem, const PlanDraft& shape)
    : StageTable(problem, shape, *std::make_unique<StageMemo>(problem)) {}

void StageTable::AddChoices(int pool, int tensor, Recompute recompute, StageMemo& memo) {
  std::vector<int> counts{replicas_};
  if (!problem_.cluster.homogeneous() && problem_.given.data == 0) {
    // So a choice's devices are those of a whole number of usual replicas, and stages fit side by
    // side.
    if (replicas_ % 2 == 0 && tensor % 2 == 0) counts.push_back(replicas_ / 2);
    counts.push_back(2 * replicas_);
  }
  for (const int replicas : counts) {
    const StageChoice choice{pool, tensor, replicas, recompute};
    if (int64_t{tensor} * shape_.context * replicas > pools_[pool].devices) continue;
    const Plan probe = ProbeOf(problem_, shape_, choice, pools_[pool]);
    if (!FindErrors(probe, problem_.workload, problem_.cluster).empty()) continue;
    sums_.push_back(SumUp(choice, probe, memo));
    choices_.push_back(choice);
  }
}

std::optional<int> StageTable::Find(const DraftStage& stage) const {
  const StageChoice choice{stage.pool(), stage.tensor, stage.replica_count(), stage.recompute};
  const auto place = std::find(choices_.begin(), choices_.end(), choice);
  if (stage.is_mixed() || place == choices_.end()) return std::nullopt;
  return static_cast<int>(place - choices_.begin());
}

DraftStage StageTable::Stage(int choice, int blocks) const {
  const StageChoice& own = choices_[choice];
  DraftStage stage{.replicas = std::vector<int>(pools_.size()),
                   .tensor = own.tensor,
                   .blocks = blocks,
                   .recompute = own.recompute};
  stage.replicas[own.pool] = own.replicas;
  return stage;
}

int StageTable::devices(int choice) const {
  return choices_[choice].tensor * shape_.context * choices_[choice].replicas;
}

StageTable::Sums StageTable::SumUp(const StageChoice& choice, const Plan& probe,
                                   StageMemo& memo) const {
  const Workload& workload = problem_.workload;
  const StageMemo::Layers& layers = memo.LayersOf(shape_, choice, probe);
  const std::vector<Bytes>& states = memo.StatesOf(shape_, choice, probe);
  Sums sums{.time = {Duration()}, .states = {0}, .saved = {0}, .memory = {}};
  sums.memory = problem_.cluster.device(probe.stages[0].replicas[0][0]).memory;
  for (const int kind : workload.layers) {
    const LayerTimes& times = layers.times[kind];
    sums.time.push_back(sums.time.back() + times.forward + times.backward);
    sums.states.push_back(sums.states.back() + states[kind].count());
    sums.saved.push_back(sums.saved.back() + layers.saved[kind].count());
  }
  return sums;
}

Duration StageTable::Time(int choice, int first, int count) const {
  const LayerRange layers = LayersOf(first, count, blocks_);
  const std::vector<Duration>& time = sums_[choice].time;
  const Duration own = time[layers.first + layers.count] - time[layers.first];
  return Duration::Nanoseconds((replicas_ * own).ns() / choices_[choice].replicas);
}

double StageTable::MemoryShare(int choice, int first, int count, double in_flight) const {
  const LayerRange layers = LayersOf(first, count, blocks_);
  return ShareOf(choice, layers.first, layers.first + layers.count, in_flight);
}

double StageTable::ShareOf(int choice, int begin, int end, double in_flight) const {
  const Sums& sums = sums_[choice];
  const auto states = static_cast<double>(sums.states[end] - sums.states[begin]);
  const auto saved = static_cast<double>(sums.saved[end] - sums.saved[begin]);
  const double share = static_cast<double>(replicas_) / choices_[choice].replicas;
  return (states + std::max(1.0, in_flight * share) * saved +
          static_cast<double>(ContextMemory().count())) /
         static_cast<double>(sums.memory.count());
}

// The later a run ends, the later it must begin, so that all blocks are gone through once.
template <typename Fits>
std::vector<int> StageTable::FirstThat(Fits fits) const {
  std::vector<int> firsts(blocks_ + 1);
  int first = 0;
  for (int end = 0; end <= blocks_; ++end) {
    while (first <= end) {
      const LayerRange layers = LayersOf(first, end - first, blocks_);
      if (fits(layers.first, layers.first + layers.count)) break;
      ++first;
    }
    firsts[end] = first;
  }
  return firsts;
}

std::vector<int> StageTable::FirstInTime(int choice, Duration limit) const {
  const Duration* const time = sums_[choice].time.data();
  // Time() rounds down.
  const int64_t replicas = choices_[choice].replicas;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t most = limit.ns() < kMost / replicas ? (limit.ns() + 1) * replicas : kMost;
  return FirstThat(
      [&](int begin, int end) { return replicas_ * (time[end] - time[begin]).ns() < most; });
}

std::vector<int> StageTable::FirstInMemory(int choice, double in_flight) const {
  return FirstThat(
      [&](int begin, int end) { return ShareOf(choice, begin, end, in_flight) <= kUsableMemory; });
}

double InFlight(const PlanDraft& shape, int stages, int stage, int64_t micro_batches) {
  return UsualInFlight(shape.schedule, stages, shape.chunks, stage, micro_batches);
}

}  // namespace stagecraft
