#include "search/evaluator.h"

#include <utility>

#include "sim/lowering.h"
#include "sim/short_step.h"
#include "sim/sim_executor.h"

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

Evaluation Evaluator::Evaluate(const Plan& plan) {
  Evaluation evaluation;
  evaluation.SetMemory(memory_.Estimate(plan));
  if (!evaluation.fits) return evaluation;
  if (const std::optional<StepProfile> profile = ProfileShort(plan)) {
    ++short_steps_;
    evaluation.SetTime(*profile);
  } else {
    ++whole_steps_;
    SimulatedStep step;
    step.plan = plan;
    step.evaluation = std::move(evaluation);
    SimulateTime(workload_, cluster_, model_, options_, lowering_, step);
    evaluation = std::move(step.evaluation);
  }
  work_.Count(plan, evaluation);
  return evaluation;
}

std::optional<StepProfile> Evaluator::ProfileShort(const Plan& plan) {
  if (options_.unfold || options_.network.fidelity == NetworkFidelity::kFlow) return std::nullopt;
  const std::optional<ShortStep> step = ShortenStep(plan);
  if (!step) return std::nullopt;
  shortened_ = plan;
  shortened_.global_batch = step->global_batch;
  const Schedule schedule = Lower(shortened_, workload_, cluster_,
                                  {.with_optimizer = options_.with_optimizer}, lowering_);
  SimExecutor executor(cluster_, model_);
  const auto repeated = executor.ExecuteRepeated(schedule, step->more, step->group);
  if (!repeated) return std::nullopt;
  return ProfileStep(schedule, repeated->timeline, executor.costs(), StepEndsOf(plan),
                     repeated->repetition);
}

}  // namespace stagecraft
