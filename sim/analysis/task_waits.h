// TaskWaits: why every task of a timeline started when it did and no earlier, and what was running
// meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// What let a task start: of everything it waited for, the last to end. Among several that ended at
// the same time a dependency comes before the task ahead on a lane, then the lower id counts.
enum class StartReason : uint8_t { kStepBegins, kDependency, kLane };
const char* Name(StartReason reason);

struct Interval {
  Duration begin, end;

  Duration length() const { return end - begin; }
};

// What a task does with its time.
enum class Activity : uint8_t {
  kWork,
  kLaunch,   // at its start: the device waits for its host to launch
  kSharing,  // at its end: it takes longer than alone, because others use the same links
};

// Takes one walk over the schedule. Schedule, Timeline and BoundCosts must outlive this object.
class TaskWaits {
 public:
  // `costs` are those of the simulation; with nullptr, tasks do nothing but work.
  TaskWaits(const Schedule& schedule, const Timeline& timeline, const BoundCosts* costs);
  // The same for some intervals alone, which must be disjoint and ascending. WalkBack() within one
  // of them gives the same result as with all; reason() and after() are known only for tasks that
  // waited for another task which ended in an interval. Takes one look at every task, and work for
  // those in the intervals.
  TaskWaits(const Schedule& schedule, const Timeline& timeline, const BoundCosts* costs,
            std::span<const Interval> intervals);

  // Among the tasks that end last, the one with the lowest id; -1 without tasks.
  TaskId last() const { return last_; }
  StartReason reason(TaskId task) const { return reason_[task]; }
  TaskId after(TaskId task) const { return after_[task]; }  // -1: none, the step begins

  // The parts of the task's time by activity. The time that a task takes beyond what it would take
  // alone and launched in time is spent on launches. The host delays the lanes of messages and
  // reductions only by their own launch; whatever goes beyond that is sharing.
  Duration LaunchTime(TaskId task) const;
  Duration SharingTime(TaskId task) const { return Excess(task) - LaunchTime(task); }

  // Follows what `task` waited for from `to`, which must not be after its end, back to `from`, and
  // calls visit(by, begin, end, activity) with what was running: each piece ends where the one
  // before it began, and together they cover `from` to `to` without a gap. If nothing was running,
  // as may happen in a measured timeline, a task that was free to start waits for its launch.
  template <typename Visit>
  void WalkBack(TaskId task, Duration from, Duration to, Visit visit) const;

 private:
  void FindReasons(std::span<const TaskId> tasks);
  void Take(TaskId before, TaskId task, StartReason reason);
  Duration Excess(TaskId task) const;

  const Schedule& schedule_;
  const Timeline& timeline_;
  const BoundCosts* costs_;
  TaskId last_ = -1;
  std::vector<TaskId> after_;
  std::vector<StartReason> reason_;
};

template <typename Visit>
void TaskWaits::WalkBack(TaskId task, Duration from, Duration to, Visit visit) const {
  const auto piece = [&](TaskId by, Duration begin, Activity activity) {
    begin = std::clamp(begin, from, to);
    if (begin == to) return;
    visit(by, begin, to, activity);
    to = begin;
  };
  while (to > from) {
    const Duration start = timeline_.start(task);
    piece(task, timeline_.end(task) - SharingTime(task), Activity::kSharing);
    piece(task, start + LaunchTime(task), Activity::kWork);
    piece(task, start, Activity::kLaunch);
    const TaskId before = after_[task];
    piece(task, before < 0 ? Duration() : timeline_.end(before), Activity::kLaunch);
    if (before < 0) break;
    task = before;
  }
}

}  // namespace stagecraft
