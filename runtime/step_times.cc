#include "runtime/step_times.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

}  // namespace

StepTimes::StepTimes(const Schedule& schedule)
    : schedule_(schedule),
      start_(schedule.task_count()),
      end_(schedule.task_count()),
      minus_first_end_(schedule.task_count(), kNever) {}

void StepTimes::Add(const RankProgram& program, std::span<const StepRecord> records) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const RankStep& step = program.steps[s];
    const int64_t own_end = records[s].end.ns();
    if (step.kind != StepKind::kReceive) {
      start_[step.task] = std::max(start_[step.task], records[s].start.ns());
    }
    if (step.kind == StepKind::kCollective) {
      minus_first_end_[step.task] = std::max(minus_first_end_[step.task], -own_end);
    } else if (step.kind != StepKind::kSend) {
      end_[step.task] = std::max(end_[step.task], own_end);
    }
  }
}

Timeline StepTimes::Join(const Most& most) {
  most(start_);
  most(end_);
  most(minus_first_end_);
  std::vector<Duration> starts, ends;
  for (TaskId task = 0; task < schedule_.task_count(); ++task) {
    const int64_t first = minus_first_end_[task];
    starts.push_back(Duration::Nanoseconds(start_[task]));
    ends.push_back(Duration::Nanoseconds(first == kNever ? end_[task] : -first));
  }
  return SettleTimes(schedule_, std::move(starts), std::move(ends));
}

Timeline SettleTimes(const Schedule& schedule, std::vector<Duration> start,
                     std::vector<Duration> end) {
  std::vector<int> waits(schedule.task_count());
  std::vector<TaskId> ready;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    waits[task] += schedule.predecessor_count(task);
    for (const TaskId next : schedule.next_on_lanes(task)) {
      if (next >= 0) ++waits[next];
    }
  }
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (waits[task] == 0) ready.push_back(task);
  }
  for (size_t i = 0; i < ready.size(); ++i) {
    const TaskId task = ready[i];
    end[task] = std::max(end[task], start[task]);
    const auto follow = [&](TaskId next) {
      start[next] = std::max(start[next], end[task]);
      if (--waits[next] == 0) ready.push_back(next);
    };
    for (const TaskId next : schedule.successors(task)) follow(next);
    for (const TaskId next : schedule.next_on_lanes(task)) {
      if (next >= 0) follow(next);
    }
  }
  CHECK(ready.size() == static_cast<size_t>(schedule.task_count()));
  return Timeline(std::move(start), std::move(end));
}

}  // namespace stagecraft
