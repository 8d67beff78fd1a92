#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "search/plan_space.h"
#include "search/pool_placement.h"
#include "search/pooled_plan.h"
#include "search/pooled_queue.h"
#include "search/pooled_split.h"

namespace stagecraft {
namespace {

// What has been enumerated, which does not depend on the cost model.
using PooledPlans = std::shared_ptr<std::vector<PooledPlan>>;

constexpr PipelineSchedule kOrder = PipelineSchedule::kOneForwardOneBackward;  // of all these plans

class PooledStages : public PlanSpace {
 public:
  // Layers are shared out as in `base` or, if that is nullptr, by the problem's own costs.
  PooledStages(const SearchProblem& problem, std::vector<int> kinds, PooledPlans all,
               const PooledSplit* base)
      : PlanSpace(problem),
        enumeration_(problem, std::move(kinds)),
        all_(std::move(all)),
        pools_(PoolsOf(problem.cluster)),
        own_(problem),
        split_(base != nullptr ? *base : own_),
        rest_(enumeration_) {}

  void FindFamilies() { rest_.AddFamilies(problem(), own_); }

  size_t size() const override { return all_->size(); }
  std::optional<double> BoundOfRest(ScheduleClass schedules, Overlaps) const override {
    if (schedules != ClassOf(kOrder)) return std::nullopt;
    return rest_.LeastScore();
  }
  void EnumerateMore(ScheduleClass schedules, Overlaps) override {
    if (!rest_.LeastScore() || schedules != ClassOf(kOrder)) return;
    if (std::optional<PooledPlan> plan = rest_.Step()) all_->push_back(*std::move(plan));
  }
  std::string name() const override { return "plans of stages in pools"; }
  PipelineSchedule Order(size_t) const override { return kOrder; }

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
    if (stages.empty()) throw InputError("no split of the layers fits");
    const bool stages_first = choice.rank_order == kStagesFirstRankOrder;
    if (!stages_first && choice.rank_order != kDefaultRankOrder) {
      throw InputError("rank order: stages in pools have none");
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

  // A plan whose stages are alike gets the key of a plan of equal stages, although its layers are
  // shared out by other rules.
  PlanKey Key(size_t index) const override {
    const PooledPlan& plan = (*all_)[index];
    PlanKeyBuilder key;
    PlanDegrees degrees = problem().given;
    degrees.pipeline = 0;
    for (const PoolRun& run : plan.runs) {
      key.AddDevices(pools_[run.pool].first, run.stages * run.tensor * plan.data);
      degrees.pipeline += run.stages;
      if (run.tensor != plan.runs[0].tensor) key.Add(run.pool).Add(run.stages).Add(run.tensor);
    }
    degrees.tensor = plan.runs[0].tensor;
    degrees.data = plan.data;
    degrees.micro_batch = plan.micro_batch;
    degrees.recompute = plan.recompute;
    degrees.rank_order = plan.rank_order;
    degrees.zero = PooledZero(problem(), plan.data);
    degrees.schedule = kOrder;
    degrees.overlap_p2p = OverlapsSends(problem().choices, problem().given, kOrder);
    return key.Build(degrees, /*is_whole=*/false);
  }

  std::string Describe(size_t index) const override {
    const PooledPlan& plan = (*all_)[index];
    std::string runs;
    for (const PoolRun& run : plan.runs) {
      runs += fmt::format("{}{} stages of tp {} on {}", runs.empty() ? "" : ", ", run.stages,
                          run.tensor, problem().cluster.groups()[run.pool].type.id);
    }
    return fmt::format(
        "{}; dp {}, micro-batch {}, recompute {}{}", runs, plan.data, plan.micro_batch,
        Name(plan.recompute),
        plan.rank_order == kDefaultRankOrder ? "" : ", rank order " + plan.rank_order);
  }

  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return std::make_unique<PooledStages>(other, std::vector<int>(), all_, &split_);
  }

 private:
  const PooledEnumeration enumeration_;
  const PooledPlans all_;
  const std::vector<Pool> pools_;
  const PooledSplit own_;
  const PooledSplit& split_;
  PooledQueue rest_;
};

}  // namespace

std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem,
                                            const std::vector<int>& kinds) {
  auto space = std::make_unique<PooledStages>(problem, kinds,
                                              std::make_shared<std::vector<PooledPlan>>(), nullptr);
  space->FindFamilies();
  return space;
}

std::unique_ptr<PlanSpace> MakePooledStages(const SearchProblem& problem) {
  return MakePooledStages(problem, {});
}

}  // namespace stagecraft
