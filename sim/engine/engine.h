// Engine: replays a frozen Schedule in virtual time.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/network/event_queue.h"
#include "sim/network/task_traffic.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// From `time` on, tasks on `lane` progress at `rate` times their nominal speed (1: nominal, 0:
// stopped). A task on several lanes progresses at the lowest of their rates. What is slow is the
// device, as with a straggler whose clock is throttled, or the link; its host launches as fast as
// ever, and the time for which a device waits for its host is not stretched.
struct RateChange {
  Duration time;  // >= 0
  Lane lane;
  double rate;  // >= 0, finite
};

// The host launches what a task runs, in the order of the task's lanes and ahead of the device
// where it can. A task that is free to start ends at
//   max(start, h + lead) + duration,
// where h is the time at which the host turned to it: when it was done with the launches before,
// and, if it waits for the task, not before the task could start.
struct Launch {
  Duration lead;   // launches that an idle device could not hide
  Duration total;  // of the time of the host
  bool waits = false;
};

// Inputs of a replay besides durations.
struct ReplayOptions {
  std::span<const RateChange> changes = {};  // in any order
  // By task; empty if the host never holds a device back.
  std::span<const Launch> launches = {};
  bool notes_launched = true;  // whether launched() is asked for
  // Tasks that are bound to it take as long as their messages do. Nothing in it may have started
  // yet.
  TaskTraffic* traffic = nullptr;
};

// Time and memory are linear in tasks + dependencies + lane entries. One engine may run many
// schedules, one after another; it keeps its buffers.
class Engine {
 public:
  // `durations` are by task, each >= 0. Throws DeadlockError (deadlock.h) if not every task can
  // run.
  Timeline Run(const Schedule& schedule, std::span<const Duration> durations,
               const ReplayOptions& options = {});
  // Replays the schedule of the last Run(), which must have had neither changes nor traffic, with
  // the same launches and other durations; schedule and launches must still exist. In which order
  // its tasks can be looked at is known by then, which makes this quicker.
  Timeline RunAgain(std::span<const Duration> durations);

  // When the host was done with the launches of each task of the last replay. Empty without
  // launches and without ReplayOptions::notes_launched; zero for tasks that have none.
  std::span<const Duration> launched() const { return launched_; }

 private:
  void Prepare(const Schedule& schedule, std::span<const RateChange> changes);
  void RunFixed();
  // Ends a task that may start at end_[task], and calls release(next) for what waits for it.
  template <typename Visit>
  void End(TaskId task, Visit release);
  Timeline TakeTimeline();
  void RunEvents(std::span<const RateChange> changes);
  // The time of the next event in the queue. Changes and traffic may still push events before it.
  int64_t NextEvent() {
    return rates_vary_ || traffic_ != nullptr ? events_.PeekTime() : events_.NextTime();
  }
  bool CompleteTraffic(int64_t limit);
  void Complete(TaskId task);
  void Start(TaskId task);
  void Release(TaskId task) {
    if (--waits_[task] == 0) ready_.push_back(task);
  }
  Duration HostDelay(TaskId task);
  void Apply(const RateChange& change);
  double Rate(TaskId task) const;

  const Schedule* schedule_ = nullptr;
  const Duration* durations_ = nullptr;
  std::span<const Launch> launches_;
  bool notes_launched_ = true;
  TaskTraffic* traffic_ = nullptr;
  bool rates_vary_ = false;
  int completed_ = 0;
  int64_t now_ = 0;
  EventQueue events_;
  std::vector<Event> batch_;
  std::vector<TaskId> ready_;
  std::vector<TaskId> order_;   // of fixed durations: tasks in the order in which they were ended
  std::vector<int32_t> waits_;  // by task: how many things still hold it back
  std::vector<Duration> end_;   // of fixed durations; before a task starts: when it may start
  // Used only if there are launches:
  std::vector<Duration> host_free_;  // by lane
  std::vector<Duration> launched_;
  // Used only if tasks may take longer than their duration:
  std::vector<Duration> start_;
  // Used only if rates vary:
  std::vector<TaskId> running_;  // by lane, -1 for none
  std::vector<double> lane_rate_;
  std::vector<double> work_left_;   // by task, nominal nanoseconds
  std::vector<int64_t> work_seen_;  // by task, when work_left_ was true; not before its launch
};

}  // namespace stagecraft
