#include "sim/analysis/time_errors.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/analysis/exposed_ops.h"
#include "sim/analysis/framework_spread.h"

namespace stagecraft {
namespace {

// Returns how often passes and updates of the rank run each op sequence, by its id.
std::vector<int64_t> CountOpSequences(const Schedule& schedule, int32_t rank) {
  std::vector<int64_t> counts(static_cast<size_t>(schedule.op_sequence_count()));
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.kind != LaneKind::kCompute || info.rank != rank) continue;
    for (const TaskId task : schedule.order(Lane(lane))) {
      const OpSequenceId op_sequence = schedule.op_sequence(task);
      const Phase phase = schedule.tag(task).phase;
      if (op_sequence < 0 || !(IsPass(phase) || phase == Phase::kOptimizer)) continue;
      ++counts[op_sequence];
    }
  }
  return counts;
}

}  // namespace

StepTimeErrors FindTimeErrors(const Schedule& schedule, const BoundCosts& costs,
                              const StepProfile& profile) {
  StepTimeErrors errors;
  const int32_t rank = profile.critical_rank;
  const std::vector<int64_t> counts = CountOpSequences(schedule, rank);
  const std::vector<Estimate>& estimates = costs.estimates[costs.device_of_rank[rank]];
  std::vector<double> seconds(estimates.size());
  double busy = 0;
  for (size_t sequence = 0; sequence < counts.size(); ++sequence) {
    if (counts[sequence] == 0) continue;
    const auto id = static_cast<OpSequenceId>(sequence);
    ForEachExposed(schedule, id, estimates, [&](size_t i, Duration time) {
      const double all = static_cast<double>(counts[sequence]) * time.seconds();
      seconds[schedule.ops(id)[i]] += all;
      busy += all;
    });
  }
  if (busy == 0) return errors;
  const bool is_framework = RunsInFramework(costs, rank);
  for (size_t op = 0; op < seconds.size(); ++op) {
    if (seconds[op] == 0) continue;
    const Op& what = schedule.op(static_cast<OpId>(op));
    errors.by_op.emplace_back(what, estimates[op].spread * seconds[op] / busy);
    if (!is_framework) continue;
    errors.by_kind[static_cast<int>(what.kind)] += FrameworkSpread(what.kind) * seconds[op] / busy;
  }
  if (!is_framework) return errors;
  const double step = profile.breakdown.Total().seconds();
  const double message = FrameworkSpread(OpKind::kAllReduce);
  errors.host = kHostSpread * profile.host_wait.seconds() / step;
  errors.pipeline = message * profile.breakdown.pipeline.seconds() / step;
  errors.data = message * profile.breakdown.data.seconds() / step;
  return errors;
}

double RatioSpread(const StepTimeErrors& a, const StepTimeErrors& b) {
  std::unordered_map<Op, double> others;
  for (const auto& [op, sigma] : b.by_op) others[op] += sigma;
  double variance = 0;
  for (const auto& [op, sigma] : a.by_op) {
    const auto other = others.find(op);
    const double difference = sigma - (other == others.end() ? 0 : other->second);
    variance += difference * difference;
    if (other != others.end()) other->second = 0;
  }
  // Adding in the order of the list keeps the sum independent of the order of the map.
  for (const auto& [op, sigma] : b.by_op) {
    double& left = others[op];
    variance += left * left;
    left = 0;
  }
  double common =
      std::abs(a.host - b.host) + std::abs(a.pipeline - b.pipeline) + std::abs(a.data - b.data);
  for (int kind = 0; kind < kOpKindCount; ++kind) {
    common += std::abs(a.by_kind[kind] - b.by_kind[kind]);
  }
  return std::hypot(common, std::sqrt(variance));
}

}  // namespace stagecraft
