#include "sim/analysis/hidden_communication.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
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

// Returns how much of `time` the intervals cover, which are in order and do not overlap.
Duration Covered(const Interval& time, std::span<const Interval> intervals) {
  Duration covered;
  auto next =
      std::partition_point(intervals.begin(), intervals.end(),
                           [&](const Interval& interval) { return interval.end <= time.begin; });
  for (; next != intervals.end() && next->begin < time.end; ++next) {
    covered += std::min(next->end, time.end) - std::max(next->begin, time.begin);
  }
  return covered;
}

// A task of the step in which the repeated part comes four times at most. What runs beside a task
// begins at most a period before or after it: of the parts in between, each like the one before and
// the one after it, the second stands for all.
struct Copy {
  int64_t index = 0;  // of the repeated part; 0 for a task that comes once
  Interval time;
  int64_t count = 1;  // how many tasks it stands for
};

// Calls visit(task, copy) in the order of the lane.
template <typename Visit>
void ForEachCopy(std::span<const TaskId> order, const Timeline& timeline,
                 const Repetition& repetition, int lane, Visit visit) {
  constexpr int64_t kMostMore = 3;
  const auto size = static_cast<int32_t>(order.size());
  const Repetition::Part part =
      repetition.parts.empty() ? Repetition::Part{size, size} : repetition.parts[lane];
  const int64_t more = std::min(repetition.times, kMostMore);
  const auto range = [&](int32_t first, int32_t last, int64_t index, Duration shift) {
    const int64_t count = index == 1 ? 1 + repetition.times - more : 1;
    for (int32_t entry = first; entry < last; ++entry) {
      const TaskId task = order[entry];
      visit(task, Copy{index, {timeline.start(task) + shift, timeline.end(task) + shift}, count});
    }
  };
  range(0, part.first, 0, Duration());
  for (int64_t index = 0; index <= more; ++index) {
    range(part.first, part.last, index, index * repetition.period);
  }
  range(part.last, size, 0, more * repetition.period);
}

}  // namespace

Duration HiddenCommunication(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, int32_t rank, const Repetition& repetition) {
  const std::vector<Estimate>& estimates = costs.estimates[costs.device_of_rank[rank]];
  std::vector<Interval> computing;
  // Communication on the rank's other lanes, by task and index of the copy.
  std::map<std::pair<TaskId, int64_t>, Copy> beside;
  std::map<OpSequenceId, Duration> inside;
  Duration hidden;
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.rank != rank) continue;
    const auto visit = [&](TaskId task, const Copy& copy) {
      const bool computes = Computes(schedule.tag(task).phase);
      if (info.kind != LaneKind::kCompute) {
        if (!computes) beside.try_emplace({task, copy.index}, copy);
        return;
      }
      if (!computes) return;
      computing.push_back(copy.time);
      const OpSequenceId op_sequence = schedule.op_sequence(task);
      if (op_sequence < 0) return;
      const auto [found, is_new] = inside.try_emplace(op_sequence);
      if (is_new) found->second = HiddenCollectives(schedule, op_sequence, estimates);
      hidden += copy.count * found->second;
    };
    ForEachCopy(schedule.order(Lane(lane)), timeline, repetition, lane, visit);
  }
  for (const auto& [task, copy] : beside) hidden += copy.count * Covered(copy.time, computing);
  return hidden;
}

}  // namespace stagecraft
