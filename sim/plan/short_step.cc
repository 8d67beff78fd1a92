#include "sim/plan/short_step.h"

#include "sim/pipeline/order_period.h"

namespace stagecraft {
namespace {

// The shortened step must have less than this share of the plan's micro-batches to be worthwhile.
constexpr double kLeastGain = 0.75;

}  // namespace

std::optional<ShortStep> ShortenStep(const Plan& plan) {
  const std::optional<OrderPeriod> period =
      FindPeriod(plan.schedule, plan.schedule_options, static_cast<int>(plan.stages.size()));
  const bool is_regular = period && plan.orders.empty() && !plan.forward_only &&
                          plan.offload.activations == 0 && HasSeparatePipelines(plan) &&
                          plan.stages[0].replica_micro_batches.empty();
  const auto pipelines = static_cast<int64_t>(plan.stages[0].replicas.size());
  if (!is_regular || plan.micro_batches() % pipelines != 0) return std::nullopt;
  const int64_t all = plan.micro_batches() / pipelines;
  const auto [group, unit, least] = *period;
  const int64_t left = least + (all - least % unit + unit) % unit;
  if (static_cast<double>(left) > kLeastGain * static_cast<double>(all)) return std::nullopt;
  return ShortStep{
      .global_batch = left * pipelines * plan.micro_batch, .more = all - left, .group = group};
}

}  // namespace stagecraft
