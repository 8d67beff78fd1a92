#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "search/plan_space.h"
#include "search/pool_placement.h"
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
      const LayerTimes own = own_.StageTimes(plan, stages, s);
      const Duration passes = micro_batches * (own.forward + own.backward);
      longest = std::max(longest, before_forward + passes + before_backward);
      before_forward += own.forward;
      before_backward += own.backward;
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
    const bool stages_first = choice.rank_order == kStagesFirstRankOrder;
    if (!stages_first && choice.rank_order != kDefaultRankOrder) {
      throw InputError("rank order: stages in pools have no such");
    }
    Plan plan = split_.Common(choice);
    plan.rank_order = choice.rank_order;
    int layer = 0;
    std::vector<PooledReplicas> replicas;
    for (size_t s = 0; s < stages.size(); ++s) {
      const PooledStage& own = stages[s];
      Stage& stage = plan.stages.emplace_back();
      const int layers = own.blocks + (s == 0) + (s + 1 == stages.size());
      stage.chunks = {{layer, layers}};
      layer += layers;
      stage.tensor_parallel = own.tensor;
      stage.recompute = choice.recompute;
      replicas.push_back({std::vector<int>(pools_.size()), own.tensor});
      replicas.back().counts[own.pool] = choice.data;
    }
    PlacedReplicas placed = PlaceInPools(pools_, replicas, stages_first);
    for (size_t s = 0; s < stages.size(); ++s) plan.stages[s].replicas = std::move(placed[s]);
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
    return fmt::format("{}; dp {}, micro-batch {}, recompute {}{}", runs, plan.data,
                       plan.micro_batch, Name(plan.recompute),
                       plan.rank_order == kDefaultRankOrder ? "" : ", ranks " + plan.rank_order);
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
