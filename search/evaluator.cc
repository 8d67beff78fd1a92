#include "search/evaluator.h"

#include <optional>
#include <utility>
#include <vector>

#include "sim/analysis/breakdown.h"
#include "sim/engine/sim_executor.h"
#include "sim/engine/sparse_products.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/expanded_matrices.h"

namespace stagecraft {

Evaluator::Evaluator(const Workload& workload, const Cluster& cluster, const CostModel& model,
                     const SimulationOptions& options)
    : workload_(workload),
      cluster_(cluster),
      model_(model),
      options_(options),
      memory_(workload, cluster, options.framework),
      lowering_(workload, cluster),
      work_(workload, cluster) {}

namespace {

// Adds the matrices that sparse products expand, which are known as soon as there is a schedule.
// Without the memory for them nothing else is known of a plan.
void CountExpanded(const Schedule& schedule, Evaluation& evaluation) {
  std::vector<StageMemory> memory = evaluation.memory;
  if (!AddExpandedMatrices(schedule, memory)) return;
  evaluation.SetMemory(std::move(memory));
  if (evaluation.fits) return;
  Evaluation without_time;
  without_time.SetMemory(std::move(evaluation.memory));
  evaluation = std::move(without_time);
}

}  // namespace

Evaluation Evaluator::Evaluate(const Plan& plan) {
  return EvaluateWith(plan, memory_.Estimate(plan));
}

Evaluation Evaluator::EvaluateIfTensorsFit(const Plan& plan) {
  return EvaluateWith(plan, memory_.EstimateIfTensorsFit(plan));
}

Evaluation Evaluator::EvaluateWith(const Plan& plan, std::vector<StageMemory> memory) {
  Evaluation evaluation;
  evaluation.SetMemory(std::move(memory));
  if (!evaluation.fits) return evaluation;
  if (TimeShort(plan, evaluation)) {
    ++short_steps_;
  } else {
    ++whole_steps_;
    SimulatedStep step;
    step.evaluation = std::move(evaluation);
    SimulateTime(plan, workload_, cluster_, model_, options_, lowering_, step);
    evaluation = std::move(step.evaluation);
    CountExpanded(step.schedule, evaluation);
  }
  if (!evaluation.fits) return evaluation;
  work_.Count(plan, evaluation);
  return evaluation;
}

bool Evaluator::TimeShort(const Plan& plan, Evaluation& evaluation) {
  if (options_.unfold || options_.network.fidelity == NetworkFidelity::kFlow) return false;
  const std::optional<ShortStep> shortest = ShortenMore(plan);
  if (shortest && TimeShort(plan, *shortest, evaluation)) return true;
  const std::optional<ShortStep> step = ShortenStep(plan);
  return step && TimeShort(plan, *step, evaluation);
}

bool Evaluator::TimeShort(const Plan& plan, const ShortStep& step, Evaluation& evaluation) {
  shortened_ = plan;
  shortened_.global_batch = step.global_batch;
  const Schedule schedule = WithFasterProducts(
      Lower(shortened_, workload_, cluster_,
            {.with_optimizer = options_.with_optimizer, .framework = options_.framework},
            lowering_),
      cluster_, model_);
  SimExecutor executor(cluster_, model_);
  const auto repeated = executor.ExecuteRepeated(schedule, step.more, step.group);
  if (!repeated) return false;
  const StepEnds ends = StepEndsOf(plan);
  evaluation.SetTime(
      ProfileStep(schedule, repeated->timeline, executor.costs(), ends, repeated->repetition));
  if (ends == StepEnds::kTogether) evaluation.unshared_time = executor.unshared_makespan();
  CountExpanded(schedule, evaluation);
  return true;
}

}  // namespace stagecraft
