#include "search/candidate.h"

#include <utility>

#include "costmodel/check.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/step/plan_pass_orders.h"

namespace stagecraft {

std::optional<Plan> MakeCandidate(const SearchProblem& problem, const PlanSpace& space,
                                  size_t index) {
  try {
    return WithPassOrders(space.Make(index), problem.workload, problem.cluster, problem.model,
                          problem.framework);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void AddMissingPlan(const SearchProblem& problem, const PlanSpace& space, size_t index,
                    RankedPlan& ranked) {
  if (!ranked.plan.stages.empty()) return;
  std::optional<Plan> plan = MakeCandidate(problem, space, index);
  CHECK(plan);  // the rank that evaluated it could make it
  ranked.plan = std::move(*plan);
}

PlanRanker::PlanRanker(const SearchProblem& problem)
    : problem_(problem), evaluators_([&problem] {
        return Evaluator(problem.workload, problem.cluster, problem.model,
                         {.framework = problem.framework});
      }) {}

RankedPlan PlanRanker::Rank(Plan plan) {
  RankedPlan ranked;
  ranked.plan = std::move(plan);
  ranked.evaluation = evaluators_.local().EvaluateIfTensorsFit(ranked.plan);
  ranked.score = Score(problem_, ranked.evaluation);
  return ranked;
}

std::optional<RankedPlan> PlanRanker::RankIfTensorsMisfit(const Plan& plan) {
  RankedPlan ranked;
  ranked.evaluation.SetMemory(evaluators_.local().LeastMemory(plan));
  if (ranked.evaluation.fits) return std::nullopt;
  ranked.plan.schedule = plan.schedule;
  ranked.score = Score(problem_, ranked.evaluation);
  return ranked;
}

Evaluation PlanRanker::Misfit(const Plan& plan) { return evaluators_.local().Evaluate(plan); }

std::vector<StageMemory> PlanRanker::Memory(const Plan& plan) {
  return evaluators_.local().Memory(plan);
}

SeenPlan SeenPlanOf(const RankedPlan& ranked, size_t index) {
  return {.index = index,
          .is_fixed = !NeedsCosts(ranked.plan.schedule),
          .fits = ranked.evaluation.fits,
          .unshared_time = ranked.evaluation.unshared_time};
}

}  // namespace stagecraft
