#include "search/pooled_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/memory/framework_memory.h"

namespace stagecraft {
namespace {

// Bounds are sums and quotients of doubles, so they are lowered by the rounding error.
constexpr double kRounding = 1 - 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double NanosecondsOf(const LayerTimes& times) {
  return static_cast<double>((times.forward + times.backward).ns());
}

double BytesOf(const Bytes& states) { return static_cast<double>(states.count()); }

// Returns 1 over the least ratio of what a kind of layer needs here to what it needs in the
// reference, among the kinds that need anything there.
template <typename Need, typename Amount>
double MostTimes(const std::vector<Need>& own, const std::vector<Need>& reference, Amount amount) {
  double least = kInfinity;
  for (size_t kind = 0; kind < own.size(); ++kind) {
    const double there = amount(reference[kind]);
    if (there > 0) least = std::min(least, amount(own[kind]) / there);
  }
  return 1 / least;
}

// Reference is what layers need in the pool and with the tensor degree to which all others are
// compared.
struct Reference {
  const std::vector<LayerTimes>* times = nullptr;
  const std::vector<Bytes>* states = nullptr;
};

Reference ReferenceOf(const PooledEnumeration& plans, const PooledSplit& split,
                      const PooledPlan& family) {
  for (int pool = 0; pool < static_cast<int>(plans.pools().size()); ++pool) {
    const std::vector<int> degrees = plans.TensorDegrees(plans.pools()[pool]);
    if (degrees.empty()) continue;
    return {&split.LayersIn(family, pool, degrees[0]), &split.BlockStates(family, degrees[0])};
  }
  return {};
}

}  // namespace

PooledBound::PooledBound(const SearchProblem& problem, const PooledEnumeration& plans,
                         const PooledSplit& split, const PooledPlan& family)
    : objective_(problem.objective),
      blocks_(plans.blocks()),
      micro_batches_(
          static_cast<double>(problem.given.global_batch / family.data / family.micro_batch)) {
  AddChoices(problem, plans, split, family);
  FindBest(problem);
}

void PooledBound::AddChoices(const SearchProblem& problem, const PooledEnumeration& plans,
                             const PooledSplit& split, const PooledPlan& family) {
  const Reference reference = ReferenceOf(plans, split, family);
  const std::vector<int>& layers = problem.workload.layers;
  for (size_t layer = 0; reference.times != nullptr && layer < layers.size(); ++layer) {
    work_seconds_ += 1e-9 * NanosecondsOf((*reference.times)[layers[layer]]);
    const bool is_block = layer > 0 && layer + 1 < layers.size();
    if (is_block) states_ += BytesOf((*reference.states)[layers[layer]]);
  }
  work_seconds_ *= micro_batches_;
  const int pools = static_cast<int>(plans.pools().size());
  for (int pool = 0; pool < pools; ++pool) {
    std::vector<PooledChoice>& choices = choices_.emplace_back();
    const double room = BytesOf(std::max(Bytes(), plans.pools()[pool].memory - ContextMemory()));
    for (const PoolRun& run : plans.RunsIn(family, pool)) {
      PooledChoice& choice = choices.emplace_back(PooledChoice{run, {}});
      if (run.stages == 0) continue;
      PooledPlan alone = family;
      alone.runs = {run};
      const double speed =
          MostTimes(split.LayersIn(family, pool, run.tensor), *reference.times, NanosecondsOf);
      const double times =
          MostTimes(split.BlockStates(family, run.tensor), *reference.states, BytesOf);
      choice.sums = {.stages = run.stages,
                     .speed = run.stages * speed,
                     .capacity = std::isfinite(times) ? run.stages * room * times : kInfinity,
                     .rate = CostRate(problem, alone.GroupDevices(pools))};
    }
  }
}

void PooledBound::FindBest(const SearchProblem& problem) {
  const int pools = static_cast<int>(choices_.size());
  fastest_.assign(At(pools + 1, 0), -1);
  roomiest_ = fastest_;
  cheapest_.assign(pools + 1, kInfinity);
  for (int stages = 1; stages <= blocks_; ++stages) {
    if (!Allows(problem.choices.pipeline, stages)) continue;
    fastest_[At(pools, stages)] = roomiest_[At(pools, stages)] = 0;
  }
  for (int pool = pools; pool-- > 0;) {
    cheapest_[pool] = cheapest_[pool + 1];
    for (const PooledChoice& choice : choices_[pool]) {
      const PooledSums& sums = choice.sums;
      if (sums.speed > 0) cheapest_[pool] = std::min(cheapest_[pool], sums.rate / sums.speed);
      for (int before = 0; before + sums.stages <= blocks_; ++before) {
        const size_t after = At(pool + 1, before + sums.stages);
        if (fastest_[after] < 0) continue;
        double& fastest = fastest_[At(pool, before)];
        double& roomiest = roomiest_[At(pool, before)];
        fastest = std::max(fastest, sums.speed + fastest_[after]);
        roomiest = std::max(roomiest, sums.capacity + roomiest_[after]);
      }
    }
  }
}

double PooledBound::LeastScore(int pools, const PooledSums& sums) const {
  if (sums.stages > blocks_) return kInfinity;
  const double fastest = fastest_[At(pools, sums.stages)];
  const double roomiest = roomiest_[At(pools, sums.stages)];
  if (fastest < 0 || sums.capacity + roomiest < kRounding * states_) return kInfinity;
  const double speed = sums.speed + fastest;
  if (objective_ == Objective::kMemory || work_seconds_ == 0 || std::isinf(speed)) return 0;
  const double work = kRounding * work_seconds_;
  if (objective_ == Objective::kStepTime) return work / speed;
  // Rate / speed is monotonic in the speed that is added at the least rate per speed, so it is
  // least at one of the ends.
  double least = kInfinity;
  if (sums.speed > 0) least = sums.rate / sums.speed;
  if (fastest > 0) least = std::min(least, (sums.rate + cheapest_[pools] * fastest) / speed);
  return work * least;
}

double PooledBound::LeastScore(std::span<const PooledChoice* const> runs) const {
  if (objective_ == Objective::kMemory || work_seconds_ == 0) return 0;
  double weights = 0;  // the sum of all y_s
  double rate = 0;
  const double kept = 1 - 1 / micro_batches_;
  for (size_t run = runs.size(); run-- > 0;) {
    const PooledSums& sums = runs[run]->sums;
    const double speed = sums.speed / sums.stages;
    if (std::isinf(speed)) return 0;
    if (speed > weights) weights = speed - (speed - weights) * std::pow(kept, sums.stages);
    rate += sums.rate;
  }
  if (weights <= 0) return 0;
  const double least = kRounding * work_seconds_ / micro_batches_ / weights;
  return objective_ == Objective::kCost ? least * rate : least;
}

double PooledBound::LeastScoreOfOrders(std::vector<const PooledChoice*> runs) const {
  std::sort(runs.begin(), runs.end(), [](const PooledChoice* a, const PooledChoice* b) {
    return a->sums.speed * b->sums.stages > b->sums.speed * a->sums.stages;
  });
  return LeastScore(runs);
}

}  // namespace stagecraft
