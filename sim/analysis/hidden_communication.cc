#include "sim/analysis/hidden_communication.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/op.h"
#include "sim/analysis/exposed_ops.h"
#include "sim/analysis/task_waits.h"

namespace stagecraft {
namespace {

bool Computes(Phase phase) { return IsPass(phase) || phase == Phase::kOptimizer; }

// Returns the time of an op sequence's collectives that other ops hide.
Duration HiddenCollectives(const Schedule& schedule, OpSequenceId op_sequence,
                           std::span<const Estimate> estimates) {
  const auto ops = schedule.ops(op_sequence);
  const auto is_collective = [&](size_t i) { return IsCollective(schedule.op(ops[i]).kind); };
  Duration hidden;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (is_collective(i)) hidden += TimeBesideOthers(schedule, op_sequence, estimates, i);
  }
  ForEachExposed(schedule, op_sequence, estimates, [&](size_t i, Duration time) {
    if (is_collective(i)) hidden -= time;
  });
  return hidden;
}

// Returns how much of the task the intervals cover, which are in order and do not overlap.
Duration Covered(const Timeline& timeline, TaskId task, std::span<const Interval> intervals) {
  const Duration begin = timeline.start(task), end = timeline.end(task);
  Duration covered;
  auto next = std::partition_point(intervals.begin(), intervals.end(),
                                   [&](const Interval& interval) { return interval.end <= begin; });
  for (; next != intervals.end() && next->begin < end; ++next) {
    covered += std::min(next->end, end) - std::max(next->begin, begin);
  }
  return covered;
}

}  // namespace

Duration HiddenCommunication(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, int32_t rank) {
  const std::vector<Estimate>& estimates = costs.estimates[costs.device_of_rank[rank]];
  std::vector<Interval> computing;
  std::set<TaskId> beside;  // communication on the rank's other lanes
  std::map<OpSequenceId, Duration> inside;
  Duration hidden;
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.rank != rank) continue;
    for (const TaskId task : schedule.order(Lane(lane))) {
      const bool computes = Computes(schedule.tag(task).phase);
      if (info.kind != LaneKind::kCompute) {
        if (!computes) beside.insert(task);
        continue;
      }
      if (!computes) continue;
      computing.push_back({timeline.start(task), timeline.end(task)});
      const OpSequenceId op_sequence = schedule.op_sequence(task);
      if (op_sequence < 0) continue;
      const auto [found, is_new] = inside.try_emplace(op_sequence);
      if (is_new) found->second = HiddenCollectives(schedule, op_sequence, estimates);
      hidden += found->second;
    }
  }
  for (const TaskId task : beside) hidden += Covered(timeline, task, computing);
  return hidden;
}

}  // namespace stagecraft
