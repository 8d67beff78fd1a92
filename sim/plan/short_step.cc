#include "sim/plan/short_step.h"

#include <iterator>

#include "sim/pipeline/order_period.h"

namespace stagecraft {
namespace {

// A shortened step must have at most this share of the micro-batches to be worthwhile.
constexpr double kLeastGain = 0.75;

bool IsWorthwhile(int64_t left, int64_t all) {
  return static_cast<double>(left) <= kLeastGain * static_cast<double>(all);
}

// Returns the period of a plan whose pipelines are alike, if it has one.
std::optional<OrderPeriod> PeriodOf(const Plan& plan) {
  const std::optional<OrderPeriod> period =
      FindPeriod(plan.schedule, plan.schedule_options, static_cast<int>(plan.stages.size()));
  const bool is_regular = period && plan.orders.empty() && !plan.forward_only &&
                          plan.offload.activations == 0 && HasSeparatePipelines(plan) &&
                          plan.stages[0].replica_micro_batches.empty();
  if (!is_regular || plan.micro_batches() % std::ssize(plan.stages[0].replicas) != 0) {
    return std::nullopt;
  }
  return period;
}

// Returns at least `least` micro-batches, and as many fewer than `all` as periods can have.
int64_t Rounded(int64_t least, int64_t all, int64_t unit) {
  return least + (all - least % unit + unit) % unit;
}

std::optional<ShortStep> StepOf(const Plan& plan, int64_t left, int64_t group) {
  const int64_t pipelines = std::ssize(plan.stages[0].replicas);
  const int64_t all = plan.micro_batches() / pipelines;
  if (!IsWorthwhile(left, all)) return std::nullopt;
  return ShortStep{
      .global_batch = left * pipelines * plan.micro_batch, .more = all - left, .group = group};
}

}  // namespace

std::optional<ShortStep> ShortenStep(const Plan& plan) {
  const std::optional<OrderPeriod> period = PeriodOf(plan);
  if (!period) return std::nullopt;
  const int64_t all = plan.micro_batches() / std::ssize(plan.stages[0].replicas);
  return StepOf(plan, Rounded(period->least, all, period->unit), period->group);
}

std::optional<ShortStep> ShortenMore(const Plan& plan) {
  const std::optional<OrderPeriod> period = PeriodOf(plan);
  if (!period || plan.zero >= 2) return std::nullopt;
  const int64_t all = plan.micro_batches() / std::ssize(plan.stages[0].replicas);
  const int64_t left = Rounded(period->first, all, period->unit);
  if (!IsWorthwhile(left, Rounded(period->least, all, period->unit))) return std::nullopt;
  return StepOf(plan, left, period->group);
}

}  // namespace stagecraft
