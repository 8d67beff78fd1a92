#include "sim/plan/asynchronous_plan.h"

#include <optional>
#include <vector>

#include "costmodel/check.h"
#include "sim/plan/tied_stages.h"

namespace stagecraft {
namespace {

std::vector<int> ReplicasOf(const Plan& plan) {
  std::vector<int> replicas;
  for (const Stage& stage : plan.stages)
    replicas.push_back(static_cast<int>(stage.replicas.size()));
  return replicas;
}

int StagesBehind(const Plan& plan, int stage) {
  return static_cast<int>(plan.stages.size()) - 1 - stage;
}

// The last batch is reduced while the gradients of the next one add up.
BufferSwitch SwitchOf(const Plan& plan, const Workload& workload, int stage) {
  const Stage& s = plan.stages[stage];
  const std::optional<TiedStages> tied = FindTiedStages(plan, workload);
  const bool reduces =
      static_cast<int>(s.replicas.size()) * s.context_parallel > 1 || (tied && tied->Hold(stage));
  return reduces && plan.overlap_grad_reduce ? BufferSwitch::kWhenUsed : BufferSwitch::kAtOnce;
}

}  // namespace

Stretch StretchOf(const Plan& plan) {
  CHECK(IsAsynchronous(plan.schedule));
  if (UpdatesEveryMiniBatch(plan.schedule)) return PipeDreamStretch(ReplicasOf(plan));
  return DoubleBufferedStretch(static_cast<int>(plan.stages.size()),
                               static_cast<int>(plan.stages[0].replicas.size()),
                               static_cast<int>(plan.micro_batches()));
}

EndlessOrder EndlessOrderOf(const Plan& plan, const Workload& workload, int stage, int replica) {
  const int mini_batches = StretchOf(plan).Total();
  if (UpdatesEveryMiniBatch(plan.schedule)) {
    return PipeDreamOrder(ReplicasOf(plan), stage, replica, mini_batches,
                          plan.schedule_options.weight_sync);
  }
  const auto batch = static_cast<int>(plan.micro_batches());
  const auto pipelines = static_cast<int>(plan.stages[stage].replicas.size());
  return DoubleBufferedOrder(StagesBehind(plan, stage), batch / pipelines, mini_batches / batch,
                             SwitchOf(plan, workload, stage));
}

StageAsynchrony AsynchronyOf(const Plan& plan, const Workload& workload, int stage) {
  CHECK(IsAsynchronous(plan.schedule));
  if (UpdatesEveryMiniBatch(plan.schedule)) {
    return AsynchronyOf(ReplicasOf(plan), stage, plan.schedule_options.weight_sync);
  }
  const int gradients = SwitchOf(plan, workload, stage) == BufferSwitch::kWhenUsed ? 2 : 1;
  return {
      .warmup = StagesBehind(plan, stage), .versions = 2, .staleness = 1, .gradients = gradients};
}

int64_t SamplesPerUpdate(const Plan& plan, int stage) {
  if (!UpdatesEveryMiniBatch(plan.schedule)) return plan.global_batch;
  return plan.micro_batch * static_cast<int64_t>(plan.stages[stage].replicas.size());
}

}  // namespace stagecraft
