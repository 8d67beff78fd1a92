#include "sim/analysis/op_estimates.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/analysis/exposed_ops.h"

namespace stagecraft {
namespace {

// How often the rank runs each op sequence.
std::map<OpSequenceId, int64_t> CountOpSequences(const Schedule& schedule, int32_t rank) {
  std::set<TaskId> seen;  // a task may be on several lanes of the rank
  std::map<OpSequenceId, int64_t> counts;
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    if (schedule.lane_infos()[lane].rank != rank) continue;
    for (const TaskId task : schedule.order(Lane(lane))) {
      const OpSequenceId op_sequence = schedule.op_sequence(task);
      if (op_sequence >= 0 && seen.insert(task).second) ++counts[op_sequence];
    }
  }
  return counts;
}

}  // namespace

std::vector<OpKindTime> TimesByOpKind(const Schedule& schedule, const BoundCosts& costs,
                                      int32_t rank) {
  const std::vector<Estimate>& estimates = costs.estimates[costs.device_of_rank[rank]];
  std::array<OpKindTime, kOpKindCount> by_kind;
  for (const auto& [op_sequence, times] : CountOpSequences(schedule, rank)) {
    const auto ops = schedule.ops(op_sequence);
    ForEachExposed(schedule, op_sequence, estimates, [&, times = times](size_t i, Duration time) {
      const OpKind kind = schedule.op(ops[i]).kind;
      const Estimate& estimate = estimates[ops[i]];
      OpKindTime& sum = by_kind[static_cast<int>(kind)];
      const double seconds = static_cast<double>(times) * time.seconds();
      sum.kind = kind;
      sum.ops += times;
      sum.time += times * time;
      sum.basis[static_cast<int>(estimate.basis)] += seconds;
      sum.spread += estimate.spread * seconds;
    });
  }
  std::vector<OpKindTime> kinds;
  for (OpKindTime& sum : by_kind) {
    if (sum.time == Duration()) continue;
    const double seconds = sum.time.seconds();
    for (double& share : sum.basis) share /= seconds;
    sum.spread /= seconds;
    kinds.push_back(sum);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const OpKindTime& a, const OpKindTime& b) { return a.time > b.time; });
  return kinds;
}

}  // namespace stagecraft
