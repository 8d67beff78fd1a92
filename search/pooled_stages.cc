#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "search/plan_space.h"
#include "search/pooled_plan.h"
#include "search/pooled_split.h"

namespace stagecraft {
namespace {

using PooledPlans = std::shared_ptr<const std::vector<PooledPlan>>;

class PooledStages : public PlanSpace {
 public:
  // Blocks are shared out as `base` does it; nullptr: by the problem's own costs.
  PooledStages(const SearchProblem& problem, PooledPlans all, const PooledSplit* base)
      : PlanSpace(problem),
        all_(std::move(all)),
        pools_(PoolsOf(problem.cluster)),
        own_(problem),
        split_(base != nullptr ? *base : own_) {}

  size_t size() const override { return all_->size(); }
  std::string name() const override { return "plans of stages in pools"; }

  Duration LeastTime(size_t index) override {
    const PooledPlan& plan = (*all_)[index];
    const std::vector<PooledStage> stages = split_.Split(plan);
    if (stages.empty()) return Duration::Max();
    Duration before_forward, before_backward, longest;
    const int64_t micro_batches = problem().given.global_batch / plan.data / plan.micro_batch;
    for (size_t s = 0; s < stages.size(); ++s) {
      const auto [forward, backward] = own_.StageTimes(plan, stages, s);
      longest = std::max(longest,
                         before_forward + micro_batches * (forward + backward) + before_backward);
      before_forward += forward;
      before_backward += backward;
    }
    return longest;
  }

  MemoryNeed LeastMemory(size_t index) override {
    const PooledPlan& plan = (*all_)[index];
    return split_.LeastMemory(plan, split_.Split(plan));
  }

  std::vector<int> GroupDevices(size_t index) const override {
    return (*all_)[index].GroupDevices(pools_.size());
  }

  Plan Make(size_t index) const override {
    const PooledPlan& choice = (*all_)[index];
    const std::vector<PooledStage> stages = split_.Split(choice);
    if (stages.empty()) throw InputError("no split of the blocks fits");
    Plan plan = split_.Common(choice);
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
    const std::vector<std::string> errors = FindErrors(plan, problem().workload, problem().cluster);
    if (!errors.empty()) throw InputError(errors[0]);
    return plan;
  }

  std::string Describe(size_t index) const override {
    const PooledPlan& plan = (*all_)[index];
    std::string runs;
    for (const PoolRun& run : plan.runs) {
      runs += fmt::format("{}{} stages of tp {} on {}", runs.empty() ? "" : ", ", run.stages,
                          run.tensor, problem().cluster.groups()[run.pool].type.id);
    }
    return fmt::format("{}; dp {}, micro-batch {}, recompute {}", runs, plan.data, plan.micro_batch,
                       Name(plan.recompute));
  }

  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return std::make_unique<PooledStages>(other, all_, &split_);
  }

 private:
  const PooledPlans all_;
  const std::vector<Pool> pools_;
  const PooledSplit own_;
  const PooledSplit& split_;
};

}  // namespace

std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem) {
  return std::make_unique<PooledStages>(
      problem, std::make_shared<const std::vector<PooledPlan>>(EnumeratePooled(problem)), nullptr);
}

}  // namespace stagecraft
