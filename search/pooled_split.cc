#include "search/pooled_split.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/memory/framework_memory.h"

namespace stagecraft {
namespace {

std::vector<PooledStage> Unfilled(const PooledPlan& plan) {
  std::vector<PooledStage> stages;
  for (const PoolRun& run : plan.runs) {
    for (int i = 0; i < run.stages; ++i) stages.push_back({run.pool, run.tensor, 0, 0});
  }
  return stages;
}

}  // namespace

PooledSplit::PooledSplit(const SearchProblem& problem)
    : problem_(problem),
      workload_(problem.workload),
      blocks_(workload_.layer_count() - 2),
      pools_(PoolsOf(problem.cluster)) {}

Plan PooledSplit::Common(const PooledPlan& choice) const {
  Plan plan = PlanWithoutStages(problem_, choice.micro_batch, problem_.given.sequence_parallel != 0,
                                PooledZero(problem_, choice.data));
  plan.overlap_p2p = OverlapsSends(problem_.choices, problem_.given, plan.schedule);
  return plan;
}

Plan PooledSplit::Probe(const PooledPlan& choice, int tensor, int first_device) const {
  Plan probe = Common(choice);
  Stage stage;
  stage.chunks = {{1, 1}};
  stage.tensor_parallel = tensor;
  stage.recompute = choice.recompute;
  std::vector<int> devices(tensor);
  std::iota(devices.begin(), devices.end(), first_device);
  stage.replicas.assign(choice.data, devices);  // one replica stands for all
  probe.stages = {stage};
  return probe;
}

const std::vector<int>& PooledSplit::PlacesIn(int pool, int tensor) const {
  const auto [entry, is_new] = places_.try_emplace({pool, tensor});
  if (!is_new) return entry->second;
  std::vector<Fabric> seen;
  std::vector<int> devices(tensor);
  for (int set = 0; set < pools_[pool].devices / tensor; ++set) {
    const int first = pools_[pool].first + set * tensor;
    std::iota(devices.begin(), devices.end(), first);
    const Fabric fabric = problem_.cluster.DescribeGroup(devices);
    if (std::find(seen.begin(), seen.end(), fabric) != seen.end()) continue;
    seen.push_back(fabric);
    entry->second.push_back(first);
  }
  return entry->second;
}

const PooledSplit::LayerCosts& PooledSplit::CostsOf(const PooledPlan& plan, int pool,
                                                    int tensor) const {
  const auto [entry, is_new] =
      costs_.try_emplace({pool, tensor, plan.micro_batch, static_cast<int64_t>(plan.recompute)});
  if (is_new) entry->second = Measure(plan, pool, tensor);
  return entry->second;
}

PooledSplit::LayerCosts PooledSplit::Measure(const PooledPlan& plan, int pool, int tensor) const {
  PooledPlan one = plan;
  one.data = 1;
  LayerCosts costs;
  for (const int first : PlacesIn(pool, tensor)) {
    const std::vector<LayerTimes> times = MeasureLayers(problem_, Probe(one, tensor, first));
    costs.times = costs.times.empty() ? times : LeastOf(costs.times, times);
  }
  const Plan probe = Probe(one, tensor, pools_[pool].first);
  std::vector<int> layer_of_kind(workload_.kinds.size(), -1);
  for (int block = 0; block < blocks_; ++block) {
    layer_of_kind[workload_.layers[block + 1]] = block + 1;
  }
  for (const int layer : layer_of_kind) {
    costs.saved.push_back(layer < 0 ? Bytes() : MeasureLayerMemory(problem_, probe, layer).saved);
  }
  return costs;
}

const std::vector<Bytes>& PooledSplit::BlockStates(const PooledPlan& plan, int tensor) const {
  const auto [entry, is_new] = states_.try_emplace({plan.data, tensor});
  std::vector<Bytes>& states = entry->second;
  if (!is_new) return states;
  states.assign(workload_.kinds.size(), Bytes(-1));
  const Plan probe = Probe(plan, tensor, 0);
  for (int layer = 1; layer <= blocks_; ++layer) {
    Bytes& own = states[workload_.layers[layer]];
    if (own < Bytes()) own = LeastLayerStates(problem_, probe, layer);
  }
  return states;
}

const PooledSplit::Sums& PooledSplit::SumsOf(const PooledPlan& plan, int pool, int tensor) const {
  const auto [entry, is_new] = sums_.try_emplace(
      {pool, tensor, plan.data, plan.micro_batch, static_cast<int64_t>(plan.recompute)});
  Sums& sums = entry->second;
  if (!is_new) return sums;
  const LayerCosts& costs = CostsOf(plan, pool, tensor);
  const std::vector<Bytes>& states = BlockStates(plan, tensor);
  sums.time_ns = sums.states = sums.saved = {0};
  for (int layer = 1; layer <= blocks_; ++layer) {
    const int kind = workload_.layers[layer];
    const LayerTimes& times = costs.times[kind];
    sums.time_ns.push_back(sums.time_ns.back() + (times.forward + times.backward).ns());
    sums.states.push_back(sums.states.back() + states[kind].count());
    sums.saved.push_back(sums.saved.back() + costs.saved[kind].count());
  }
  return sums;
}

const std::vector<LayerTimes>& PooledSplit::LayersIn(const PooledPlan& plan, int pool,
                                                     int tensor) const {
  return CostsOf(plan, pool, tensor).times;
}

LayerTimes PooledSplit::StageTimes(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                                   size_t s) const {
  const PooledStage& stage = stages[s];
  const std::vector<LayerTimes>& times = LayersIn(plan, stage.pool, stage.tensor);
  LayerTimes sum;
  const auto add = [&](int layer) {
    sum.forward += times[workload_.layers[layer]].forward;
    sum.backward += times[workload_.layers[layer]].backward;
    sum.launches += times[workload_.layers[layer]].launches;
  };
  if (s == 0) add(0);
  for (int block = 0; block < stage.blocks; ++block) add(1 + stage.first_block + block);
  if (s + 1 == stages.size()) add(workload_.layer_count() - 1);
  return sum;
}

MemoryNeed PooledSplit::LeastMemory(const PooledPlan& plan, std::vector<PooledStage> stages) const {
  if (stages.empty()) {
    stages = Unfilled(plan);
    const auto count = static_cast<int>(stages.size());
    for (int s = 0; s < count; ++s) {
      stages[s].first_block = blocks_ * s / count;
      stages[s].blocks = blocks_ * (s + 1) / count - stages[s].first_block;
    }
  }
  MemoryNeed most{Bytes(), Bytes(1)};
  for (const PooledStage& stage : stages) {
    const std::vector<int64_t>& states = SumsOf(plan, stage.pool, stage.tensor).states;
    const int64_t own = states[stage.first_block + stage.blocks] - states[stage.first_block];
    const MemoryNeed need{Bytes(own) + ContextMemory(), pools_[stage.pool].memory};
    if (need.Share() > most.Share()) most = need;
  }
  return most;
}

std::vector<PooledSplit::Limits> PooledSplit::LimitsOf(const PooledPlan& plan,
                                                       const std::vector<PooledStage>& stages,
                                                       bool counts_saved) const {
  const int64_t micro_batches = problem_.given.global_batch / plan.data / plan.micro_batch;
  std::vector<Limits> limits;
  for (size_t s = 0; s < stages.size(); ++s) {
    // Neighbours are often alike.
    const bool is_like =
        s > 0 && stages[s].pool == stages[s - 1].pool && stages[s].tensor == stages[s - 1].tensor;
    const Sums& sums =
        is_like ? *limits.back().sums : SumsOf(plan, stages[s].pool, stages[s].tensor);
    const bool is_end = s == 0 || s + 1 == stages.size();
    const LayerTimes ends = is_end ? StageTimes(plan, stages, s) : LayerTimes();
    const auto in_flight =
        std::min<int64_t>(micro_batches, static_cast<int64_t>(stages.size() - s));
    limits.push_back({.sums = &sums,
                      .end_ns = (ends.forward + ends.backward).ns(),
                      .in_flight = counts_saved ? in_flight : 0,
                      .room = (pools_[stages[s].pool].memory - ContextMemory()).count()});
  }
  return limits;
}

// Gives each stage, from the last to the first, as many layers as its limits allow: a layer more in
// a later stage is one less for earlier stages. It is whole if all layers found a place.
PooledSplit::Filling PooledSplit::Fill(const std::vector<Limits>& limits, int64_t most_ns,
                                       std::vector<PooledStage>& stages) const {
  Filling filling{.is_whole = false, .next_ns = std::numeric_limits<int64_t>::max()};
  int left = blocks_;
  for (size_t s = stages.size(); s-- > 0;) {
    const Limits& own = limits[s];
    const Sums& sums = *own.sums;
    const auto time = [&](int first) {
      return own.end_ns + sums.time_ns[left] - sums.time_ns[first];
    };
    const auto has_room = [&](int first) {
      return sums.states[left] - sums.states[first] +
                 own.in_flight * (sums.saved[left] - sums.saved[first]) <=
             own.room;
    };
    // Each earlier stage except for the first must get a layer.
    const int least = std::min(left, static_cast<int>(s == 0 ? 0 : s - 1));
    int low = least, high = left + 1;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (middle > left || (time(middle) <= most_ns && has_room(middle))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (high > least && has_room(high - 1)) {
      filling.next_ns = std::min(filling.next_ns, time(high - 1));
    }
    if (high > left) return filling;
    stages[s].first_block = high;
    stages[s].blocks = left - high;
    if (stages[s].blocks == 0 && s > 0 && s + 1 < stages.size()) return filling;
    left = high;
  }
  filling.is_whole = left == 0;
  return filling;
}

// Returns about what each stage would take if layers could be divided at will.
int64_t PooledSplit::EvenTime(const std::vector<Limits>& limits) {
  double parts = 0, ends = 0;
  for (const Limits& own : limits) {
    const auto all = static_cast<double>(std::max<int64_t>(1, own.sums->time_ns.back()));
    parts += 1 / all;
    ends += static_cast<double>(own.end_ns) / all;
  }
  return static_cast<int64_t>((1 + ends) / parts) - 1;
}

// The least limit is found from below, from one limit that changes anything to the next. If that
// takes many steps, or begins too high, the rest is a bisection.
bool PooledSplit::FillBest(const std::vector<Limits>& limits,
                           std::vector<PooledStage>& stages) const {
  constexpr int kMostSteps = 16;
  int64_t high = 0;
  for (const Limits& own : limits) {
    high = std::max(high, own.end_ns + own.sums->time_ns.back());
  }
  if (!Fill(limits, high, stages).is_whole) return false;
  int64_t low = -1, limit = std::min(high, EvenTime(limits));
  for (int step = 0; step < kMostSteps && limit < high; ++step) {
    const Filling filling = Fill(limits, limit, stages);
    if (filling.is_whole) {
      high = limit;
    } else {
      low = filling.next_ns - 1;
      limit = filling.next_ns;
    }
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (Fill(limits, middle, stages).is_whole ? high : low) = middle;
  }
  return Fill(limits, high, stages).is_whole;
}

std::vector<PooledStage> PooledSplit::Split(const PooledPlan& plan) const {
  std::vector<PooledStage> stages = Unfilled(plan);
  for (const bool counts_saved : {true, false}) {
    const std::vector<Limits> limits = LimitsOf(plan, stages, counts_saved);
    if (FillBest(limits, stages)) return stages;
    stages = Unfilled(plan);
  }
  return {};
}

}  // namespace stagecraft
