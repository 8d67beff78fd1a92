#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "search/layer_times.h"
#include "search/plan_space.h"
#include "search/pooled_plans.h"
#include "sim/lowering.h"
#include "sim/memory/model_states.h"
#include "sim/memory/rank_tensors.h"

namespace stagecraft {
namespace {

// One stage, and what it has to do.
struct PooledStage {
  int pool = 0;
  int tensor = 1;
  int blocks = 0;
};

class PooledStages : public PlanSpace {
 public:
  explicit PooledStages(const SearchProblem& problem)
      : problem_(problem),
        workload_(problem.workload),
        blocks_(workload_.layer_count() - 2),
        pools_(PoolsOf(problem.cluster)),
        all_(EnumeratePooledPlans(problem, pools_)) {}

  size_t size() const override { return all_.size(); }
  std::string name() const override { return "plans of stages in pools"; }

  double Bound(size_t index) override {
    const PooledPlan& plan = all_[index];
    const std::vector<PooledStage> stages = Split(plan);
    if (stages.empty()) return std::numeric_limits<double>::infinity();
    Duration before_forward, before_backward, longest;
    const int64_t micro_batches = problem_.given.global_batch / plan.data / plan.micro_batch;
    for (size_t s = 0; s < stages.size(); ++s) {
      const auto [forward, backward] = StageTimes(plan, stages, s);
      longest = std::max(longest,
                         before_forward + micro_batches * (forward + backward) + before_backward);
      before_forward += forward;
      before_backward += backward;
    }
    if (problem_.objective == Objective::kStepTime) return longest.seconds();
    if (problem_.objective == Objective::kCost) return longest.seconds() * Devices(plan);
    return LeastMemory(index).Share();
  }

  MemoryNeed LeastMemory(size_t index) override {
    const PooledPlan& plan = all_[index];
    std::vector<PooledStage> stages = Split(plan);
    if (stages.empty()) {  // what an even split would need
      stages = Unfilled(plan);
      const auto count = static_cast<int>(stages.size());
      for (PooledStage& stage : stages) stage.blocks = (blocks_ + count - 1) / count;
    }
    MemoryNeed most{Bytes(), Bytes(1)};
    for (const PooledStage& stage : stages) {
      const MemoryNeed need{
          stage.blocks * Kind(plan, stage.pool, stage.tensor).states + ContextMemory(),
          pools_[stage.pool].memory};
      if (need.Share() > most.Share()) most = need;
    }
    return most;
  }

  Plan Make(size_t index) const override {
    const PooledPlan& choice = all_[index];
    const std::vector<PooledStage> stages = Split(choice);
    if (stages.empty()) throw InputError("no split of the blocks fits");
    Plan plan = Common(choice);
    int layer = 0;
    std::vector<int> next(pools_.size(), 0);  // device of the pool not yet used
    for (size_t s = 0; s < stages.size(); ++s) {
      const PooledStage& own = stages[s];
      Stage stage;
      const int layers = own.blocks + (s == 0) + (s + 1 == stages.size());
      stage.chunks = {{layer, layers}};
      layer += layers;
      stage.tensor_parallel = own.tensor;
      stage.recompute = choice.recompute;
      for (int r = 0; r < choice.data; ++r) {
        std::vector<int> devices(own.tensor);
        std::iota(devices.begin(), devices.end(), pools_[own.pool].first + next[own.pool]);
        next[own.pool] += own.tensor;
        stage.replicas.push_back(std::move(devices));
      }
      plan.stages.push_back(std::move(stage));
    }
    const std::vector<std::string> errors = FindErrors(plan, workload_, problem_.cluster);
    if (!errors.empty()) throw InputError(errors[0]);
    return plan;
  }

  std::string Describe(size_t index) const override {
    const PooledPlan& plan = all_[index];
    std::string runs;
    for (const PoolRun& run : plan.runs) {
      runs += fmt::format("{}{} stages of tp {} on {}", runs.empty() ? "" : ", ", run.stages,
                          run.tensor, problem_.cluster.groups()[run.pool].type.id);
    }
    return fmt::format("{}; dp {}, micro-batch {}, recompute {}", runs, plan.data, plan.micro_batch,
                       Name(plan.recompute));
  }

 private:
  // What layers are to a stage in a pool with some tensor degree.
  struct LayerKindCosts {
    std::vector<LayerTimes> times;  // by kind
    Bytes states;                   // of a block: weights, gradients, optimizer
    Bytes saved;                    // by a block of one micro-batch
  };

  int Devices(const PooledPlan& plan) const {
    int devices = 0;
    for (const PoolRun& run : plan.runs) devices += run.stages * run.tensor * plan.data;
    return devices;
  }

  Plan Common(const PooledPlan& choice) const {
    Plan plan;
    static_cast<StepOptions&>(plan) = problem_.given;
    plan.order = PipelineOrder::kOneForwardOneBackward;
    plan.micro_batch = choice.micro_batch;
    plan.sequence_parallel = problem_.given.sequence_parallel != 0;
    plan.zero = choice.data > 1 && !plan.forward_only ? 1 : 0;
    plan.gradient_bytes = problem_.given.gradient_bytes != 0
                              ? problem_.given.gradient_bytes
                              : (plan.precision == DType::kFp16 ? 2 : 4);
    return plan;
  }

  // Thread-safe once every entry is there, which the first Bound() of a plan sees to.
  const LayerKindCosts& Kind(const PooledPlan& plan, int pool, int tensor) const {
    const std::array<int64_t, 5> key{pool, tensor, plan.data, plan.micro_batch,
                                     static_cast<int64_t>(plan.recompute)};
    const auto [entry, is_new] = kinds_.try_emplace(key);
    if (is_new) entry->second = Measure(plan, pool, tensor);
    return entry->second;
  }

  LayerKindCosts Measure(const PooledPlan& choice, int pool, int tensor) const {
    Plan probe = Common(choice);
    Stage stage;
    stage.chunks = {{1, 1}};
    stage.tensor_parallel = tensor;
    stage.recompute = choice.recompute;
    std::vector<int> devices(tensor);
    std::iota(devices.begin(), devices.end(), pools_[pool].first);
    stage.replicas.assign(choice.data, devices);  // one stands for all
    probe.stages = {stage};
    LayerKindCosts costs;
    costs.times = MeasureLayers(problem_, StageShard(probe, workload_, problem_.cluster, 0, 0),
                                problem_.cluster.device(devices[0]));
    const ParameterCount parameters = ShardParameters(workload_.layer(1), tensor, 1);
    const ModelStates states = ShareOut(parameters, SharingOf(probe, workload_, 0));
    costs.states = states.weights + states.gradients + states.optimizer;
    const RankTensors rank =
        RankTensorsMaker(workload_, problem_.cluster, problem_.framework).Make(probe, 0, 0);
    costs.saved = Bytes((*rank.chunks[0])[Phase::kForward].summary.net);
    return costs;
  }

  LayerTimes StageTimes(const PooledPlan& plan, const std::vector<PooledStage>& stages,
                        size_t s) const {
    const std::vector<LayerTimes>& times = Kind(plan, stages[s].pool, stages[s].tensor).times;
    LayerTimes sum;
    const auto add = [&](int layer, int64_t count) {
      sum.forward += count * times[workload_.layers[layer]].forward;
      sum.backward += count * times[workload_.layers[layer]].backward;
    };
    if (s == 0) add(0, 1);
    if (s + 1 == stages.size()) add(workload_.layer_count() - 1, 1);
    add(1, stages[s].blocks);
    return sum;
  }

  // The split with the least slowest stage, of blocks that are all taken to be alike, with
  // one micro-batch in flight for each stage behind and a stage's own; empty where memory,
  // or blocks, are too few.
  std::vector<PooledStage> Split(const PooledPlan& plan) const {
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
      const Bytes each = kind.states + in_flight * kind.saved;
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

  static std::vector<PooledStage> Unfilled(const PooledPlan& plan) {
    std::vector<PooledStage> stages;
    for (const PoolRun& run : plan.runs) {
      for (int i = 0; i < run.stages; ++i) stages.push_back({run.pool, run.tensor, 0});
    }
    return stages;
  }

  const SearchProblem& problem_;
  const Workload& workload_;
  const int blocks_;
  const std::vector<Pool> pools_;
  const std::vector<PooledPlan> all_;
  mutable std::map<std::array<int64_t, 5>, LayerKindCosts> kinds_;
};

}  // namespace

std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem) {
  return std::make_unique<PooledStages>(problem);
}

}  // namespace stagecraft
