#include "sim/step/evaluation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/engine/sparse_products.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/expanded_matrices.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/step/work_counter.h"

namespace stagecraft {

void SimulateTime(const Plan& plan, const Workload& workload, const Cluster& cluster,
                  const CostModel& model, const SimulationOptions& options, LoweringMemory& memory,
                  SimulatedStep& step) {
  const bool unfold = options.unfold || options.network.fidelity == NetworkFidelity::kFlow;
  step.schedule = WithFasterProducts(
      Lower(plan, workload, cluster, {unfold, options.with_optimizer, options.framework}, memory),
      cluster, model);
  SimExecutor executor(cluster, model, options.network);
  step.timeline = executor.Execute(step.schedule);
  step.costs = executor.costs();
  step.link_use = executor.link_use();

  Evaluation& evaluation = step.evaluation;
  if (IsAsynchronous(plan.schedule)) {
    evaluation.steady =
        MeasureSteadyState(plan, workload, step.schedule, step.timeline, step.costs);
    evaluation.SetTime(evaluation.steady->step);
  } else {
    const StepEnds ends = StepEndsOf(plan);
    evaluation.SetTime(ProfileStep(step.schedule, step.timeline, step.costs, ends));
    if (ends == StepEnds::kTogether) evaluation.unshared_time = executor.unshared_makespan();
  }
}

StepEnds StepEndsOf(const Plan& plan) {
  return plan.post_validation ? StepEnds::kApart : StepEnds::kTogether;
}

void Evaluation::SetTime(const StepProfile& of_step) {
  profile = of_step;
  step_time = profile.breakdown.Total();
  const double factor = std::exp(kSigmas80 * profile.spread);
  step_time_low = Duration::Seconds(step_time.seconds() / factor);
  step_time_high = Duration::Seconds(step_time.seconds() * factor);
}

void Evaluation::SetMemory(std::vector<StageMemory> by_stage) {
  memory = std::move(by_stage);
  fits = std::all_of(memory.begin(), memory.end(),
                     [](const StageMemory& stage) { return stage.fits(); });
}

SimulatedStep SimulateStep(const Plan& plan, const Workload& workload, const Cluster& cluster,
                           const CostModel& model, const SimulationOptions& options) {
  SimulatedStep step;
  // Pass orders do not depend on slow parts.
  step.plan =
      cluster.slow_parts().empty()
          ? WithPassOrders(plan, workload, cluster, model, options.framework)
          : WithPassOrders(plan, workload, cluster.WithSlowParts({}), model, options.framework);
  LoweringMemory memory(workload, cluster);
  SimulateTime(step.plan, workload, cluster, model, options, memory, step);
  WorkCounter(workload, cluster).Count(step.plan, step.evaluation);
  std::vector<StageMemory> by_stage =
      EstimateMemory(step.plan, workload, cluster, options.framework);
  AddExpandedMatrices(step.schedule, by_stage);
  step.evaluation.SetMemory(std::move(by_stage));
  return step;
}

}  // namespace stagecraft
