#include "sim/task_waits.h"

namespace stagecraft {
namespace {

bool SharesLinks(Phase phase) {
  return phase == Phase::kSendForward || phase == Phase::kSendBackward ||
         phase == Phase::kGradReduce || phase == Phase::kParamGather || phase == Phase::kContext;
}

}  // namespace

const char* Name(StartReason reason) {
  constexpr const char* kNames[] = {"the step begins", "dependency", "lane"};
  return kNames[static_cast<int>(reason)];
}

TaskWaits::TaskWaits(const Schedule& schedule, const Timeline& timeline, const BoundCosts* costs)
    : schedule_(schedule),
      timeline_(timeline),
      costs_(costs),
      after_(schedule.task_count(), -1),
      reason_(schedule.task_count(), StartReason::kStepBegins) {
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (last_ < 0 || timeline.end(task) > timeline.end(last_)) last_ = task;
    for (const TaskId next : schedule.successors(task)) {
      Take(task, next, StartReason::kDependency);
    }
  }
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    for (const TaskId next : schedule.next_on_lanes(task)) {
      if (next >= 0) Take(task, next, StartReason::kLane);
    }
  }
}

// Called in order of preference.
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
  const Duration length = timeline_.end(task) - timeline_.start(task);
  return std::max(Duration(), length - costs_->TaskTimes(schedule_, task).device);
}

}  // namespace stagecraft
