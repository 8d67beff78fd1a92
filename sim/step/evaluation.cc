#include "sim/step/evaluation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "sim/engine/repeated_tasks.h"
#include "sim/engine/sparse_products.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/expanded_matrices.h"
#include "sim/plan/short_step.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/step/work_counter.h"

namespace stagecraft {
namespace {

// A part of the step must have at most one of this many of its micro-batches: if it does not show
// how the others repeat it, it was simulated in vain.
constexpr int64_t kLeastShortening = 4;

// Whether the tasks of the whole step, one after another, take at most kLongestTime, whatever each
// of them takes.
bool IsShortEnough(int64_t tasks, const BoundCosts& costs) {
  Duration most;  // of one task
  for (const std::vector<OpSequenceTimes>& op_sequences : costs.op_sequences) {
    for (const OpSequenceTimes& times : op_sequences) most = std::max(most, times.FromIdle());
  }
  return most.ns() <= kLongestTime.ns() / tasks;
}

// Derives the step from one of fewer micro-batches. Returns false if it does not follow from one.
bool SimulateRepeated(const Workload& workload, const Cluster& cluster, const CostModel& model,
                      const SimulationOptions& options, LoweringMemory& memory,
                      SimulatedStep& step) {
  if (options.unfold || options.network.fidelity == NetworkFidelity::kFlow) return false;
  const std::optional<ShortStep> part = ShortenStep(step.plan);
  if (!part || kLeastShortening * part->global_batch > step.plan.global_batch) return false;
  const int64_t whole = std::exchange(step.plan.global_batch, part->global_batch);
  step.schedule = WithFasterProducts(
      Lower(step.plan, workload, cluster,
            {.with_optimizer = options.with_optimizer, .framework = options.framework}, memory),
      cluster, model);
  step.plan.global_batch = whole;
  SimExecutor executor(cluster, model, options.network);
  auto repeated = executor.ExecuteRepeated(step.schedule, part->more, part->group);
  if (!repeated) return false;
  const RepeatedTasks tasks(step.schedule, repeated->repetition);
  if (!tasks.HasOrder() || !IsShortEnough(tasks.total(), executor.costs())) return false;
  step.timeline = std::move(repeated->timeline);
  step.repetition = std::move(repeated->repetition);
  step.costs = executor.costs();
  const StepEnds ends = StepEndsOf(step.plan);
  step.evaluation.SetTime(
      ProfileStep(step.schedule, step.timeline, step.costs, ends, step.repetition));
  if (ends == StepEnds::kTogether) step.evaluation.unshared_time = executor.unshared_makespan();
  return true;
}

}  // namespace

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
  if (!options.repeats || !SimulateRepeated(workload, cluster, model, options, memory, step)) {
    SimulateTime(step.plan, workload, cluster, model, options, memory, step);
  }
  WorkCounter(workload, cluster).Count(step.plan, step.evaluation);
  std::vector<StageMemory> by_stage =
      EstimateMemory(step.plan, workload, cluster, options.framework);
  AddExpandedMatrices(step.schedule, by_stage);
  step.evaluation.SetMemory(std::move(by_stage));
  return step;
}

}  // namespace stagecraft
