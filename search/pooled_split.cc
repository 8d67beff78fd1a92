#include "search/pooled_split.h"

#include <algorithm>
#include <numeric>

#include "sim/memory/framework_memory.h"

namespace stagecraft {
namespace {

std::vector<PooledStage> Unfilled(const PooledPlan& plan) {
  std::vector<PooledStage> stages;
  for (const PoolRun& run : plan.runs) {
    for (int i = 0; i < run.stages; ++i) stages.push_back({run.pool, run.tensor, 0});
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
  return PlanWithoutStages(problem_, choice.micro_batch, problem_.given.sequence_parallel != 0,
                           PooledZero(problem_, choice.data));
}

const PooledSplit::LayerKindCosts& PooledSplit::Kind(const PooledPlan& plan, int pool,
                                                     int tensor) const {
  const std::array<int64_t, 5> key{pool, tensor, plan.data, plan.micro_batch,
                                   static_cast<int64_t>(plan.recompute)};
  const auto [entry, is_new] = kinds_.try_emplace(key);
  if (is_new) entry->second = Measure(plan, pool, tensor);
  return entry->second;
}

PooledSplit::LayerKindCosts PooledSplit::Measure(const PooledPlan& choice, int pool,
                                                 int tensor) const {
  Plan probe = Common(choice);
  Stage stage;
  stage.chunks = {{1, 1}};
  stage.tensor_parallel = tensor;
  stage.recompute = choice.recompute;
  std::vector<int> devices(tensor);
  std::iota(devices.begin(), devices.end(), pools_[pool].first);
  stage.replicas.assign(choice.data, devices);  // one stands for all
  probe.stages = {stage};
  return {MeasureLayers(problem_, probe), MeasureLayerMemory(problem_, probe, 1)};
}

const std::vector<LayerTimes>& PooledSplit::LayersIn(PooledPlan plan, int pool, int tensor) const {
  plan.data = 1;
  return Kind(plan, pool, tensor).times;
}

LayerTimes PooledSplit::StageTimes(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                                   size_t s) const {
  const std::vector<LayerTimes>& times = Kind(plan, stages[s].pool, stages[s].tensor).times;
  LayerTimes sum;
  const auto add = [&](int layer, int64_t count) {
    sum.forward += count * times[workload_.layers[layer]].forward;
    sum.backward += count * times[workload_.layers[layer]].backward;
    sum.launches += count * times[workload_.layers[layer]].launches;
  };
  if (s == 0) add(0, 1);
  if (s + 1 == stages.size()) add(workload_.layer_count() - 1, 1);
  add(1, stages[s].blocks);
  return sum;
}

MemoryNeed PooledSplit::LeastMemory(const PooledPlan& plan, std::vector<PooledStage> stages) const {
  if (stages.empty()) {
    stages = Unfilled(plan);
    const auto count = static_cast<int>(stages.size());
    for (PooledStage& stage : stages) stage.blocks = (blocks_ + count - 1) / count;
  }
  MemoryNeed most{Bytes(), Bytes(1)};
  for (const PooledStage& stage : stages) {
    const MemoryNeed need{
        stage.blocks * Kind(plan, stage.pool, stage.tensor).block.states + ContextMemory(),
        pools_[stage.pool].memory};
    if (need.Share() > most.Share()) most = need;
  }
  return most;
}

std::vector<PooledStage> PooledSplit::Split(const PooledPlan& plan) const {
  struct Limits {
    int64_t block_ns = 0, end_ns = 0;  // a block; embedding and head
    int64_t most = 0;                  // blocks that fit
  };
  std::vector<PooledStage> stages = Unfilled(plan);
  std::vector<Limits> limits(stages.size());
  const int64_t micro_batches = problem_.given.global_batch / plan.data / plan.micro_batch;
  int64_t high = 0;
  for (size_t s = 0; s < stages.size(); ++s) {
    const LayerKindCosts& kind = Kind(plan, stages[s].pool, stages[s].tensor);
    const LayerTimes& block = kind.times[workload_.layers[1]];
    const LayerTimes ends = StageTimes(plan, stages, s);
    const auto in_flight =
        std::min<int64_t>(micro_batches, static_cast<int64_t>(stages.size() - s));
    const Bytes room = pools_[stages[s].pool].memory - ContextMemory();
    const Bytes each = kind.block.states + in_flight * kind.block.saved;
    limits[s] = {
        (block.forward + block.backward).ns(), (ends.forward + ends.backward).ns(),
        std::clamp<int64_t>(room.count() / std::max<int64_t>(1, each.count()), 0, blocks_)};
    high = std::max(high, limits[s].end_ns + blocks_ * limits[s].block_ns);
  }
  const auto fill = [&](int64_t limit) {
    int64_t left = blocks_;
    for (size_t s = stages.size(); s-- > 0;) {
      const int64_t time = std::max<int64_t>(0, limit - limits[s].end_ns) / limits[s].block_ns;
      // Stages before this one keep a block each.
      const auto before = static_cast<int64_t>(s == 0 ? 0 : s - 1);
      const int64_t spare = std::max<int64_t>(0, left - before);
      stages[s].blocks = static_cast<int>(std::min({spare, time, limits[s].most}));
      left -= stages[s].blocks;
    }
    return left == 0;
  };
  if (!fill(high)) return {};
  for (int64_t low = 0; high - low > 1;) {
    const int64_t middle = (low + high) / 2;
    (fill(middle) ? high : low) = middle;
  }
  fill(high);
  for (size_t s = 1; s + 1 < stages.size(); ++s) {
    if (stages[s].blocks == 0) return {};
  }
  return stages;
}

}  // namespace stagecraft
