#include "search/evaluation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/lowering.h"
#include "sim/plan_orders.h"
#include "sim/shard.h"

namespace stagecraft {
namespace {

DType PeakType(DType precision) {
  if (precision == DType::kFp8) return DType::kBf16;
  return precision;
}

FlopCount RecomputedFlopsOfStep(const Plan& plan, const Workload& workload,
                                const Cluster& cluster) {
  FlopCount flops;
  if (plan.forward_only) return flops;
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const Stage& s = plan.stages[stage];
    const ShardSpec spec = StageShard(plan, workload, cluster, static_cast<int>(stage), 0);
    std::map<std::pair<int, bool>, FlopCount> known;  // by kind, recomputed whole
    const double ranks = s.tensor_parallel * s.context_parallel;
    const double micro_batches = static_cast<double>(plan.micro_batches()) / MapOf(plan).chains();
    for (const LayerRange& range : s.chunks) {
      for (int l = range.first; l < range.first + range.count; ++l) {
        const bool is_whole = RecomputedRange(workload, spec, l).count > 0;
        const auto [entry, is_new] = known.try_emplace({workload.layers[l], is_whole});
        if (is_new) {
          entry->second = RecomputedFlops(workload.layer(l), LayerSpec(workload, spec, l));
        }
        flops += ranks * micro_batches * entry->second;
      }
    }
  }
  return flops;
}

void CountWork(const Plan& plan, const Workload& workload, const Cluster& cluster,
               Evaluation& evaluation) {
  evaluation.samples = static_cast<double>(plan.global_batch);
  evaluation.tokens = evaluation.samples * static_cast<double>(plan.sequence);
  const double share = plan.forward_only ? 1.0 / 3.0 : 1.0;
  evaluation.model_flops =
      share * evaluation.tokens * workload.TrainingFlopsPerToken(plan.sequence);
  evaluation.hardware_flops =
      evaluation.model_flops + RecomputedFlopsOfStep(plan, workload, cluster);
  double peak = 0;
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      for (const int device : replica) {
        peak += cluster.device(device).Peak(PeakType(plan.precision)).flop_per_s();
        ++evaluation.devices;
      }
    }
  }
  evaluation.peak = FlopRate(peak);
}

// Of a plan with its orders.
void CountMemory(const Plan& plan, const Workload& workload, const Cluster& cluster,
                 const SimulationOptions& options, Evaluation& evaluation) {
  evaluation.memory = EstimateMemory(plan, workload, cluster, options.framework);
  evaluation.fits = std::all_of(evaluation.memory.begin(), evaluation.memory.end(),
                                [](const StageMemory& memory) { return memory.fits(); });
}

void Simulate(const Workload& workload, const Cluster& cluster, const CostModel& model,
              const SimulationOptions& options, SimulatedStep& step) {
  const Plan& plan = step.plan;
  const bool unfold = options.unfold || options.network.fidelity == NetworkFidelity::kFlow;
  step.schedule = Lower(plan, workload, cluster, {unfold, options.with_optimizer});
  SimExecutor executor(cluster, model, options.network);
  step.timeline = executor.Execute(step.schedule);
  step.costs = executor.costs();
  step.link_use = executor.link_use();

  Evaluation& evaluation = step.evaluation;
  if (IsAsynchronous(plan.order)) {
    evaluation.steady =
        MeasureSteadyState(plan, workload, step.schedule, step.timeline, step.costs);
    evaluation.profile = evaluation.steady->step;
  } else {
    const StepEnds ends = plan.post_validation ? StepEnds::kApart : StepEnds::kTogether;
    evaluation.profile = ProfileStep(step.schedule, step.timeline, step.costs, ends);
  }
  evaluation.step_time = evaluation.profile.breakdown.Total();
  const double factor = std::exp(kSigmas80 * evaluation.profile.spread);
  evaluation.step_time_low = Duration::Seconds(evaluation.step_time.seconds() / factor);
  evaluation.step_time_high = Duration::Seconds(evaluation.step_time.seconds() * factor);
  CountWork(plan, workload, cluster, evaluation);
}

}  // namespace

const StageMemory& FullestStage(const Evaluation& evaluation) {
  return *std::max_element(
      evaluation.memory.begin(), evaluation.memory.end(),
      [](const StageMemory& a, const StageMemory& b) { return a.Share() < b.Share(); });
}

Evaluation EvaluatePlan(const Plan& plan, const Workload& workload, const Cluster& cluster,
                        const CostModel& model, const SimulationOptions& options) {
  SimulatedStep step;
  step.plan = WithOrders(plan, workload, cluster, model);
  CountMemory(step.plan, workload, cluster, options, step.evaluation);
  if (step.evaluation.fits) Simulate(workload, cluster, model, options, step);
  return std::move(step.evaluation);
}

SimulatedStep SimulateStep(const Plan& plan, const Workload& workload, const Cluster& cluster,
                           const CostModel& model, const SimulationOptions& options) {
  SimulatedStep step;
  step.plan = WithOrders(plan, workload, cluster, model);
  Simulate(workload, cluster, model, options, step);
  CountMemory(step.plan, workload, cluster, options, step.evaluation);
  return step;
}

}  // namespace stagecraft
