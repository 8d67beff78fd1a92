#include "search/explanation.h"

#include <utility>

#include "search/device_kinds.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

TimedSplit TimeSplit(const SearchProblem& problem, const Plan& plan, const std::string& name) {
  SimulatedStep step = SimulateStep(plan, problem.workload, problem.cluster, problem.model,
                                    {.framework = problem.framework});
  std::vector<StageTime> stages = MeasureStages(step, problem.workload);
  return {.name = name, .evaluation = std::move(step.evaluation), .stages = std::move(stages)};
}

std::optional<TimedSplit> TimeOther(const SearchProblem& problem, const Plan& plan) {
  if (const std::optional<Plan> even = SplitEvenly(plan, problem.workload, problem.cluster)) {
    return TimeSplit(problem, *even, "even");
  }
  if (const std::optional<Plan> other = SplitForHead(plan, problem.workload, problem.cluster)) {
    TimedSplit split = TimeSplit(problem, *other, "balanced head");
    split.spares_head = true;
    return split;
  }
  return std::nullopt;
}

}  // namespace

SearchExplanation ExplainSearch(const SearchProblem& problem, PlanSpace& space,
                                std::span<const RankedPlan> plans, std::span<const SeenPlan> seen,
                                const std::optional<Budget>& budget) {
  const Stopwatch watch;
  const RankedPlan& best = plans[0];
  SearchExplanation explanation;
  explanation.split = TimeSplit(problem, best.plan, "as found");
  explanation.other = TimeOther(problem, best.plan);
  if (plans.size() > 1) explanation.second = plans[1];
  explanation.is_cut_short = !budget;
  if (!budget) return explanation;
  if (problem.objective != Objective::kMemory) {
    const std::vector<SpeedChange> changes = UsualChanges(problem.cluster);
    explanation.sensitivity = FindSensitivity(problem, space, best, seen, changes, *budget);
    for (const ChangedAnswer& answer : explanation.sensitivity) {
      explanation.evaluated += answer.evaluated;
    }
    explanation.is_cut_short = explanation.sensitivity.size() < changes.size();
  }
  if (KindsOf(problem.cluster).count() < 2) return explanation;
  const std::optional<Budget> left = budget->Left(explanation.evaluated, watch.Seconds());
  if (left) {
    explanation.mixing = CompareKinds(problem, *left);
    explanation.mixing->Offer(problem, best);
  }
  explanation.is_cut_short = explanation.is_cut_short || !left;
  return explanation;
}

}  // namespace stagecraft
