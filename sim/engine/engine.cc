#include "sim/engine/engine.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "sim/schedule/deadlock.h"

namespace stagecraft {
namespace {

constexpr int32_t kDone = -1;                     // in waits_
constexpr int64_t kNever = Duration::Max().ns();  // also of what takes 292 years

}  // namespace

Timeline Engine::Run(const Schedule& schedule, std::span<const Duration> durations,
                     const ReplayOptions& options) {
  CHECK(static_cast<int>(durations.size()) == schedule.task_count());
  CHECK(options.launches.empty() || options.launches.size() == durations.size());
  std::vector<RateChange> changes(options.changes.begin(), options.changes.end());
  std::stable_sort(changes.begin(), changes.end(),
                   [](const RateChange& a, const RateChange& b) { return a.time < b.time; });
  durations_ = durations.data();
  launches_ = options.launches;
  notes_launched_ = options.notes_launched;
  traffic_ = options.traffic;
  Prepare(schedule, changes);
  if (changes.empty() && traffic_ == nullptr) {
    RunFixed();
  } else {
    RunEvents(changes);
  }
  if (completed_ != schedule.task_count()) {
    throw DeadlockError(ExplainDeadlock(schedule, waits_));
  }
  return TakeTimeline();
}

Timeline Engine::RunAgain(std::span<const Duration> durations) {
  CHECK(order_.size() == durations.size());
  durations_ = durations.data();
  end_.assign(durations.size(), Duration());
  if (!launches_.empty()) {
    start_.resize(durations.size());
    launched_.assign(notes_launched_ ? durations.size() : 0, Duration());
    host_free_.assign(schedule_->lane_count(), Duration());
  }
  for (const TaskId task : order_) {
    End(task, [](TaskId) {});
  }
  return TakeTimeline();
}

Timeline Engine::TakeTimeline() {
  if (start_.empty()) {
    start_.resize(end_.size());
    for (size_t task = 0; task < end_.size(); ++task) start_[task] = end_[task] - durations_[task];
  }
  return Timeline(std::move(start_), std::move(end_));
}

template <typename Visit>
void Engine::End(TaskId task, Visit release) {
  now_ = end_[task].ns();
  if (!start_.empty()) start_[task] = end_[task];
  const Duration delay = launches_.empty() ? Duration() : HostDelay(task);
  const Duration end = Duration::Nanoseconds(now_) + delay + durations_[task];
  end_[task] = end;
  for (const TaskId next : schedule_->successors(task)) {
    end_[next] = std::max(end_[next], end);
    release(next);
  }
  for (const TaskId next : schedule_->next_on_lanes(task)) {
    if (next < 0) continue;
    end_[next] = std::max(end_[next], end);
    release(next);
  }
}

// If nothing changes the duration of a task once it runs, its start is the latest end of what it
// waits for, in whatever order these are looked at: no event needs to be queued.
void Engine::RunFixed() {
  while (!ready_.empty()) {
    const TaskId task = ready_.back();
    ready_.pop_back();
    waits_[task] = kDone;
    order_.push_back(task);
    End(task, [this](TaskId next) { Release(next); });
  }
  completed_ = static_cast<int>(order_.size());
}

// The event loop. At each instant first complete everything, then start everything
// that can.
void Engine::RunEvents(std::span<const RateChange> changes) {
  size_t next_change = 0;
  while (true) {
    for (; next_change < changes.size() && changes[next_change].time.ns() <= now_; ++next_change) {
      Apply(changes[next_change]);
    }
    for (size_t i = 0; i < ready_.size(); ++i) Start(ready_[i]);
    ready_.clear();

    int64_t next = next_change < changes.size() ? changes[next_change].time.ns() : kNever;
    if (!events_.empty()) next = std::min(next, NextEvent());
    if (traffic_ != nullptr && traffic_->running()) {
      if (CompleteTraffic(next) && now_ < next) continue;
    }
    if (next == kNever) break;
    now_ = next;
    if (events_.empty() || NextEvent() > now_) continue;
    events_.PopAll(batch_);
    for (const Event& event : batch_) {
      const bool is_current = waits_[event.task] == 0 && end_[event.task].ns() == event.time_ns;
      if (is_current) Complete(event.task);  // else superseded by a rate change
    }
  }
}

void Engine::Prepare(const Schedule& schedule, std::span<const RateChange> changes) {
  schedule_ = &schedule;
  rates_vary_ = !changes.empty();
  now_ = 0;
  completed_ = 0;
  events_ = EventQueue();
  ready_.clear();
  order_.clear();
  const int tasks = schedule.task_count();
  end_.assign(tasks, Duration());
  waits_.resize(tasks);
  for (TaskId task = 0; task < tasks; ++task) {
    waits_[task] =
        schedule.predecessor_count(task) + static_cast<int32_t>(schedule.lanes(task).size());
    if (waits_[task] == 0) ready_.push_back(task);
  }
  start_.clear();
  if (rates_vary_ || !launches_.empty() || traffic_ != nullptr) start_.resize(tasks);
  launched_.assign(notes_launched_ ? launches_.size() : 0, Duration());
  if (!launches_.empty()) host_free_.assign(schedule.lane_count(), Duration());
  if (rates_vary_) {
    running_.assign(schedule.lane_count(), -1);
    lane_rate_.assign(schedule.lane_count(), 1.0);
    work_left_.assign(tasks, 0);
    work_seen_.assign(tasks, 0);
  }
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const auto order = schedule.order(Lane(lane));
    if (!order.empty()) Release(order[0]);
  }
}

void Engine::Start(TaskId task) {
  if (!start_.empty()) start_[task] = Duration::Nanoseconds(now_);
  if (traffic_ != nullptr && traffic_->Has(task)) {
    traffic_->Start(task, Duration::Nanoseconds(now_));
    return;
  }
  const Duration begin =
      Duration::Nanoseconds(now_) + (launches_.empty() ? Duration() : HostDelay(task));
  Duration end = begin + durations_[task];
  if (rates_vary_) {
    for (const Lane lane : schedule_->lanes(task)) running_[Index(lane)] = task;
    work_left_[task] = static_cast<double>(durations_[task].ns());
    work_seen_[task] = begin.ns();
    const double rate = Rate(task);
    if (rate != 1) end = begin + Duration::RoundedNanoseconds(work_left_[task] / rate);
  }
  end_[task] = end;
  if (end.ns() < kNever) events_.Push(end.ns(), task);
}

// How long the device waits for the launches of a task that starts now.
Duration Engine::HostDelay(TaskId task) {
  const Launch& launch = launches_[task];
  if (launch.total == Duration()) return {};
  const Duration now = Duration::Nanoseconds(now_);
  Duration host = launch.waits ? now : Duration();
  for (const Lane lane : schedule_->lanes(task)) host = std::max(host, host_free_[Index(lane)]);
  const Duration launched = host + launch.total;
  if (notes_launched_) launched_[task] = launched;
  for (const Lane lane : schedule_->lanes(task)) host_free_[Index(lane)] = launched;
  return std::max(Duration(), host + launch.lead - now);
}

// Runs the traffic to the first instant that ends a task, no later than `limit`.
bool Engine::CompleteTraffic(int64_t limit) {
  const std::span<const TaskId> ended = traffic_->Advance(Duration::Nanoseconds(limit));
  if (ended.empty()) return false;
  now_ = traffic_->now().ns();
  for (const TaskId task : ended) {
    end_[task] = Duration::Nanoseconds(now_);
    Complete(task);
  }
  return true;
}

void Engine::Complete(TaskId task) {
  waits_[task] = kDone;
  ++completed_;
  for (const TaskId next : schedule_->successors(task)) Release(next);
  for (const TaskId next : schedule_->next_on_lanes(task)) {
    if (next >= 0) Release(next);
  }
  if (!rates_vary_) return;
  for (const Lane lane : schedule_->lanes(task)) running_[Index(lane)] = -1;
}

double Engine::Rate(TaskId task) const {
  double rate = 1;
  bool first = true;
  for (const Lane lane : schedule_->lanes(task)) {
    rate = first ? lane_rate_[Index(lane)] : std::min(rate, lane_rate_[Index(lane)]);
    first = false;
  }
  return rate;
}

// Re-times the task that runs on the changed lane, if there is one.
void Engine::Apply(const RateChange& change) {
  const int lane = Index(change.lane);
  const TaskId task = running_[lane];
  const double old_rate = task >= 0 ? Rate(task) : 0;
  lane_rate_[lane] = change.rate;
  if (task < 0) return;
  const int64_t begin = std::max(now_, work_seen_[task]);
  work_left_[task] -= old_rate * static_cast<double>(begin - work_seen_[task]);
  work_left_[task] = std::max(work_left_[task], 0.0);
  work_seen_[task] = begin;
  const Duration end =
      Duration::Nanoseconds(begin) + Duration::RoundedNanoseconds(work_left_[task] / Rate(task));
  if (end == end_[task]) return;
  end_[task] = end;
  if (end.ns() < kNever) events_.Push(end.ns(), task);
}

}  // namespace stagecraft
