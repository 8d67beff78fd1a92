#include "sim/plan/short_step.h"

#include <algorithm>

namespace stagecraft {
namespace {

// Of the plan's micro-batches, what is left must be less to pay.
constexpr double kLeastGain = 0.75;

bool Alternates(const Plan& plan) {
  return plan.order == PipelineOrder::kOneForwardOneBackward ||
         plan.order == PipelineOrder::kInterleaved;
}

}  // namespace

std::optional<ShortStep> ShortenStep(const Plan& plan) {
  const bool is_regular = Alternates(plan) && plan.orders.empty() && !plan.forward_only &&
                          plan.offload.activations == 0 && HasSeparatePipelines(plan) &&
                          plan.stages[0].replica_micro_batches.empty();
  const auto pipelines = static_cast<int64_t>(plan.stages[0].replicas.size());
  if (!is_regular || plan.micro_batches() % pipelines != 0) return std::nullopt;
  const int64_t all = plan.micro_batches() / pipelines;
  const auto stages = static_cast<int64_t>(plan.stages.size());
  ShortStep step;
  // Any period of micro-batches divides what is left out; that of a pipeline that waits for
  // its messages is as long as the pipeline.
  int64_t unit = stages;
  int64_t least = 3 * stages + 4;
  if (plan.order_options.warmup == WarmupPolicy::kB) least += stages;
  if (plan.order == PipelineOrder::kInterleaved) {
    const int64_t size = plan.order_options.groups.size;
    step.group = size == 0 ? stages : size;
    unit = step.group;
    least = 4 * step.group;
  }
  const int64_t left = least + (all - least % unit + unit) % unit;
  if (static_cast<double>(left) > kLeastGain * static_cast<double>(all)) return std::nullopt;
  step.more = all - left;
  step.global_batch = left * pipelines * plan.micro_batch;
  return step;
}

}  // namespace stagecraft
