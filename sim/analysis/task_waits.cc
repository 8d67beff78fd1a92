#include "sim/analysis/task_waits.h"

namespace stagecraft {
namespace {

bool SharesLinks(Phase phase) {
  return phase == Phase::kSendForward || phase == Phase::kSendBackward ||
         phase == Phase::kVocabularyExchange || phase == Phase::kGradReduce ||
         phase == Phase::kParamGather || phase == Phase::kContext ||
         phase == Phase::kExpertExchange;
}

}  // namespace

const char* Name(StartReason reason) {
  constexpr const char* kNames[] = {"the step begins", "dependency", "lane"};
  return kNames[static_cast<int>(reason)];
}

TaskWaits::TaskWaits(const Schedule& schedule, const Timeline& timeline, const BoundCosts* costs)
    : TaskWaits(schedule, timeline, costs,
                std::vector<Interval>{{Duration::Nanoseconds(-1), timeline.makespan()}}) {}

TaskWaits::TaskWaits(const Schedule& schedule, const Timeline& timeline, const BoundCosts* costs,
                     std::span<const Interval> intervals)
    : schedule_(schedule),
      timeline_(timeline),
      costs_(costs),
      after_(schedule.task_count(), -1),
      reason_(schedule.task_count(), StartReason::kStepBegins) {
  std::vector<TaskId> tasks;
  // Tasks of one lane have neighbouring ids and end one after another.
  auto interval = intervals.begin();
  Duration latest, previous;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Duration end = timeline.end(task);
    if (last_ < 0 || end > latest) {
      last_ = task;
      latest = end;
    }
    if (end < previous) {
      interval = std::partition_point(intervals.begin(), intervals.end(),
                                      [&](const Interval& other) { return other.end < end; });
    }
    previous = end;
    while (interval != intervals.end() && interval->end < end) ++interval;
    if (interval != intervals.end() && interval->begin < end) tasks.push_back(task);
  }
  FindReasons(tasks);
}

void TaskWaits::FindReasons(std::span<const TaskId> tasks) {
  for (const TaskId task : tasks) {
    for (const TaskId next : schedule_.successors(task)) {
      Take(task, next, StartReason::kDependency);
    }
  }
  for (const TaskId task : tasks) {
    for (const TaskId next : schedule_.next_on_lanes(task)) {
      if (next >= 0) Take(task, next, StartReason::kLane);
    }
  }
}

// Must be called in order of preference, for dependencies first.
void TaskWaits::Take(TaskId before, TaskId task, StartReason reason) {
  if (after_[task] >= 0 && timeline_.end(before) <= timeline_.end(after_[task])) return;
  after_[task] = before;
  reason_[task] = reason;
}

Duration TaskWaits::LaunchTime(TaskId task) const {
  if (costs_ == nullptr) return Duration();
  return SharesLinks(schedule_.tag(task).phase)
             ? std::min(Excess(task), costs_->TaskTimes(schedule_, task).lead)
             : Excess(task);
}

Duration TaskWaits::Excess(TaskId task) const {
  if (costs_ == nullptr) return Duration();
  Duration length = timeline_.end(task) - timeline_.start(task);
  // What slows compute down makes its work longer; what slows messages down is sharing.
  if (!costs_->stretched.empty() && !SharesLinks(schedule_.tag(task).phase)) {
    length -= costs_->stretched[task];
  }
  return std::max(Duration(), length - costs_->TaskTimes(schedule_, task).device);
}

}  // namespace stagecraft
