#include "tools/run/run_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/op.h"
#include "runtime/cuda/attention_refused.h"
#include "sim/engine/sparse_products.h"
#include "sim/lowering/lowering.h"
#include "sim/step/plan_pass_orders.h"
#include "tools/run/cuda_places.h"
#include "tools/run/plan_memory.h"
#include "tools/run/predicted_history.h"
#include "tools/run/run_cuda.h"
#include "tools/run/run_host.h"

namespace stagecraft {

LoweredJob LowerJob(const PlanFlags& flags, const CostModel& model) {
  PlannedJob job = flags.Build();
  if (job.plan.gradient_sync.method != SyncMethod::kAllReduce) {
    throw InputError(fmt::format("--gradient-sync: got {}, want all-reduce, the one that is run",
                                 Name(job.plan.gradient_sync.method)));
  }
  if (job.plan.expert_exchange.sends != ExpertSends::kEveryCopy) {
    throw InputError(fmt::format("--expert-sends: got {}, want {}, the one that is run",
                                 Name(job.plan.expert_exchange.sends),
                                 Name(ExpertSends::kEveryCopy)));
  }
  job.plan.framework.hides_exchanges = false;  // passes run them one after another
  job.plan = WithPassOrders(job.plan, job.workload, job.cluster, model);
  Schedule schedule = WithFasterProducts(
      Lower(job.plan, job.workload, job.cluster, {.unfold = true}), job.cluster, model);
  return {std::move(job), std::move(schedule)};
}

RunOfPlan RunPlanOnHost(const PlanFlags& flags, const FaultFlags& faults, const CostModel& model,
                        RunRequest request, std::ostream& err) {
  RunOfPlan run{.lowered = LowerJob(flags, model)};
  const auto& [job, schedule] = run.lowered;
  faults.ApplyRanks(static_cast<int>(schedule.ranks().size()), request);
  run.speeds = request.speeds;
  if (request.measured_run || !request.speeds.empty()) {
    run.predicted = PredictStep(schedule, job.cluster, model, request.speeds);
  }
  if (!request.measured_run) {
    run.record = RunOnHost(schedule, request, err);
    return run;
  }
  run.measured =
      MeasureRun(schedule, KeptStates(job.plan, job.workload, job.cluster, schedule), request, err);
  if (!run.measured) return run;
  run.record = std::move(run.measured->record);
  run.prediction =
      PredictHistory(*request.measured_run, *run.measured, *run.predicted, schedule, job.cluster);
  const size_t past = request.measured_run->kills.size() - run.measured->kills.size();
  if (past > 0) {
    run.notes.push_back(fmt::format(
        "the run went on from its checkpoint after step {}: {} before that did not happen again",
        run.measured->first_step, past == 1 ? "the kill" : "the kills"));
  }
  return run;
}

RunOfPlan RunPlanOnGpus(const PlanFlags& flags, const CostModel& model, const RunRequest& request,
                        const Args& args, std::ostream& out, std::ostream& err) {
  RunOfPlan run{.lowered = LowerJob(flags, model)};
  const PlannedJob& job = run.lowered.job;
  const auto ops = run.lowered.schedule.distinct_ops();
  if (std::any_of(ops.begin(), ops.end(),
                  [](const Op& op) { return op.kind == OpKind::kSparse; })) {
    throw InputError(
        "--layer-state: got weights stored as csr, want MASKED or --executor host: GPUs run no "
        "sparse products here");
  }
  const AttentionKernel kernel = job.plan.attention_kernel;
  if (job.workload.attention == AttentionBackend::kFlash && kernel != AttentionKernel::kUsual &&
      kernel != AttentionKernel::kCudnn) {
    throw InputError(fmt::format("attention: got {}, want flash or cudnn: GPUs run cuDNN's kernel",
                                 Name(kernel)));
  }
  const auto run_lowered = [&] {
    return RunOnGpus(run.lowered.job, run.lowered.schedule, request, args, out, err);
  };
  try {
    run.record = run_lowered();
    return run;
  } catch (const AttentionRefused& refused) {
    const int processes =
        PlaceRanks(run.lowered.schedule.ranks(), run.lowered.job.cluster, request.share_gpu)
            .processes;
    if (processes > 1 || flags.ChoosesAttention()) {
      throw InputError(fmt::format("{}; --attention unfused needs no such op", refused.what()));
    }
    run.notes.push_back(fmt::format(
        "attention ran unfused, as with --attention unfused, since fused attention was refused: {}",
        refused.what()));
  }
  PlanFlags unfused = flags;
  unfused.UseUnfusedAttention();
  run.lowered = LowerJob(unfused, model);
  run.record = run_lowered();
  if (run.record) run.record->measurement->software += ", attention unfused";
  return run;
}

}  // namespace stagecraft
