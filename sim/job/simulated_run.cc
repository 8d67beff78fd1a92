#include "sim/job/simulated_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr const char* kTooLong = "it would take longer than 100 years";

// Returns the time at the pace of a device whose speed is `rate`.
Duration Slowed(Duration time, double rate) {
  return Duration::RoundedNanoseconds(static_cast<double>(time.ns()) / rate);
}

Duration Share(Duration time, double share) {
  return Duration::RoundedNanoseconds(static_cast<double>(time.ns()) * share);
}

// Returns the least n with n * step >= time.
int64_t StepsIn(Duration time, Duration step) {
  return time <= Duration() ? 0 : (time.ns() - 1) / step.ns() + 1;
}

int64_t NetworkAt(const std::vector<StepChange>& changes, int64_t step) {
  return std::upper_bound(changes.begin(), changes.end(), step,
                          [](int64_t at, const StepChange& change) { return at < change.step; }) -
         changes.begin();
}

}  // namespace

RunSetup::RunSetup(const RunSpec& run) : spec(run), racks(*run.cluster, run.nodes_per_rack) {
  CHECK(spec.step != nullptr);
  devices = spec.cluster->device_count();
  if (spec.devices.empty()) return;
  uses_device.resize(static_cast<size_t>(devices));
  for (const int device : spec.devices) uses_device[device] = 1;
  devices = static_cast<int>(spec.devices.size());
}

SimulatedRun::SimulatedRun(const RunSetup& setup, StepMemo* memo, Random random, bool keeps_phases)
    : spec_(setup.spec),
      setup_(setup),
      memo_(memo),
      health_(*spec_.cluster, setup.racks, setup.uses_device),
      feed_(spec_.events, *spec_.cluster, setup.racks,
            DrawnEvents(spec_.rates, *spec_.cluster, setup.racks, random)),
      recorder_(setup.devices, keeps_phases),
      spares_(spec_.recovery.spare_nodes) {}

void SimulatedRun::Simulate() {
  for (const EventTarget& absent : feed_.Absent()) {
    health_.Apply({absent, ClusterEvent::What::kLeave});
  }
  is_broken_ = true;  // It is until the cluster can run the plan.
  const Choice choice = AwaitRunnable();
  is_broken_ = false;
  Run(choice.state);
  if (choice.is_replanned) plan_move_ = choice.move;
  while (true) {
    CountTurn();
    if (is_broken_) {
      Recover();
    } else if (step_ < spec_.steps) {
      Compute();
    } else {
      if (!spec_.checkpoint.IsOn()) return;
      WriteCheckpoint(true);
      if (!is_broken_) return;
    }
  }
}

History SimulatedRun::TakeHistory(const std::string& stopped) {
  if (step_ >= high_) {
    recorder_.LoseStep(partial_, partial_slowing_, "lost when the run stopped");
  }
  recorder_.totals().steps = high_;
  History history = recorder_.Finish(now_);
  history.stopped = stopped;
  return history;
}

// A run in which this much happens does not get on.
void SimulatedRun::CountTurn() {
  constexpr int64_t kMostTurns = 10'000'000;
  constexpr int64_t kMostTurnsWithoutProgress = 1'000'000;
  if (++turns_ - turns_at_progress_ > kMostTurnsWithoutProgress) {
    GiveUp(fmt::format("the last {} events and decisions completed no step for the first time",
                       kMostTurnsWithoutProgress));
  }
  if (turns_ > kMostTurns) {
    GiveUp(fmt::format("it takes more than {} events and decisions", kMostTurns));
  }
}

void SimulatedRun::UpdateNetwork() {
  network_ = static_cast<int>(NetworkAt(spec_.network_changes, step_));
}

// Looks up the step of running_ and of the whole cluster.
void SimulatedRun::UpdateStep() {
  if (!is_stale_) return;
  is_stale_ = false;
  UpdateNetwork();
  const std::optional<RunningStep>& whole = memo_->Step({}, network_);
  if (!whole) GiveUp(kNeverRuns);
  useful_step_ = whole->time;
  step_here_ = memo_->Step(running_, network_);
  if (spec_.recovery.policy == Recovery::Policy::kReplan && !running_.IsWhole()) {
    if (const auto& plan = memo_->Replan(running_, network_)) step_here_ = plan->step;
  }
  if (!recorder_.keeps_phases()) return;
  step_reason_.clear();
  const auto add = [this](size_t count, const char* what) {
    if (count == 0) return;
    if (!step_reason_.empty()) step_reason_ += ", ";
    step_reason_ += fmt::format("{} {}{} {}", count, what[0] == 'l' ? "link" : "device",
                                count == 1 ? "" : "s", what[0] == 'd' ? "down" : "slow");
  };
  add(running_.down.size(), "down");
  add(running_.slow.size(), "slow");
  add(running_.slow_links.size(), "link");
}

void SimulatedRun::Compute() {
  FinishWrite();
  if (owed_ != nullptr) return PayForChange();
  if (is_pending_ && spent_ == Duration()) return Regroup();
  UpdateStep();
  if (!step_here_) return Stall();
  Duration pace = step_here_->time;
  if (writing_) pace = Slowed(pace, 1 - spec_.checkpoint.slowdown);
  if (pace != pace_ && spent_ > Duration()) {
    spent_ = Duration::Nanoseconds(
        static_cast<int64_t>(static_cast<__int128>(spent_.ns()) * pace.ns() / pace_.ns()));
  }
  pace_ = pace;
  const Stop stop = NextStop();
  if (stop.step == step_) return WriteCheckpoint(stop.is_before_leaving);
  Duration until = now_ - spent_ + (stop.step - step_) * pace_;
  if (writing_) until = std::min(until, writing_->end);
  until = std::max(now_, std::min(until, feed_.NextTime()));
  Advance(std::min(until, kLongestTime));
  if (until > kLongestTime) GiveUp(kTooLong);
  FinishWrite();
  TakeEvents();
}

void SimulatedRun::PayForChange() {
  if (owed_->cost > Duration() && !Spend(PhaseKind::kRebalancing, owed_->cost, owed_->reason)) {
    return;  // and again after the recovery, if the run is still there then
  }
  owed_ = nullptr;
}

void SimulatedRun::Advance(Duration stop) {
  const Duration length = stop - now_;
  const Duration progress = spent_ + length;
  const int64_t steps = progress.ns() / pace_.ns();
  const bool is_redone = step_ < high_;
  RunPhase phase{is_redone ? PhaseKind::kRedone : PhaseKind::kComputing,
                 step_,
                 steps,
                 now_,
                 length,
                 pace_,
                 step_here_->devices,
                 {}};
  if (recorder_.keeps_phases()) {
    phase.plan = step_here_->plan;
    phase.idle_share = step_here_->idle_share;
    phase.reason = is_redone ? Reason("lost when ") : step_reason_;
    if (writing_) {
      if (!phase.reason.empty()) phase.reason += ", ";
      phase.reason += kWritesCheckpointReason;
    }
  }
  recorder_.Add(std::move(phase));
  spent_ = progress - steps * pace_;
  const double slowing = writing_ ? spec_.checkpoint.slowdown : 0;
  if (slowing > 0 && !is_redone) {
    // Each step beside it is rounded, and so is the share.
    recorder_.CountAsCheckpoint(Share(length, slowing), Duration::Nanoseconds(steps + 1));
  }
  partial_ = steps > 0 ? spent_ : partial_ + length;
  partial_slowing_ = steps > 0 ? Share(spent_, slowing) : partial_slowing_ + Share(length, slowing);
  since_ += length;
  now_ = stop;
  if (is_redone) {
    recorder_.totals().steps_redone += steps;
  } else {
    recorder_.totals().useful += steps * useful_step_;
  }
  step_ += steps;
  if (step_ > high_) turns_at_progress_ = turns_;
  high_ = std::max(high_, step_);
  const int64_t network = NetworkAt(spec_.network_changes, step_);
  if (network == network_) return;
  is_stale_ = true;
  if (network > network_) owed_ = &spec_.network_changes[network - 1];
}

// Returns the next step at whose end something has to be decided.
SimulatedRun::Stop SimulatedRun::NextStop() const {
  Stop next{spec_.steps};
  const auto consider = [&next](const Stop& stop) {
    if (stop.step < next.step) next = stop;
  };
  if (step_ < high_) consider({high_});
  if (is_pending_) consider({step_ + 1});
  if (feed_.NextStep() > step_) consider({feed_.NextStep()});
  if (network_ < std::ssize(spec_.network_changes))
    consider({spec_.network_changes[network_].step});
  if (spec_.checkpoint.IsOn()) {
    consider(CheckpointBeforeLeaving());
    if (!writing_) consider(RegularCheckpoint());
  }
  return next;
}

// Returns the last end of a step after which a checkpoint is complete before a device leaves.
SimulatedRun::Stop SimulatedRun::CheckpointBeforeLeaving() const {
  const Duration leaving = feed_.NextLeaving(health_);
  const Duration left = leaving - spec_.checkpoint.write - (now_ - spent_);
  if (leaving == Duration::Max() || leaving == leaving_served_ || left < Duration()) {
    return {EventFeed::kNoStep};
  }
  const int64_t steps = left.ns() / pace_.ns();
  if (steps == 0 && (spent_ > Duration() || step_ == saved_)) return {EventFeed::kNoStep};
  return {step_ + steps, true};
}

SimulatedRun::Stop SimulatedRun::RegularCheckpoint() const {
  const Duration left = std::max(spec_.checkpoint.interval - since_, Duration());
  return {step_ + StepsIn(left + spent_, pace_)};
}

void SimulatedRun::WriteCheckpoint(bool is_before_leaving) {
  if (spec_.checkpoint.is_asynchronous && !is_before_leaving) {
    writing_ = Write{step_, now_ + spec_.checkpoint.write, since_};
    since_ = Duration();
    return;
  }
  AbortWrite();
  const Duration leaving = feed_.NextLeaving(health_);
  if (!Spend(PhaseKind::kCheckpoint, spec_.checkpoint.write, "")) return;
  if (is_before_leaving) leaving_served_ = leaving;
  since_ = Duration();
  saved_ = step_;
  ++recorder_.totals().checkpoints;
}

void SimulatedRun::FinishWrite() {
  if (!writing_ || writing_->end > now_) return;
  saved_ = writing_->step;
  writing_.reset();
  ++recorder_.totals().checkpoints;
}

void SimulatedRun::AbortWrite() {
  if (!writing_) return;
  since_ += writing_->since;
  writing_.reset();
}

// Takes what happens at this moment, as far as the run goes on.
void SimulatedRun::TakeEvents() {
  while (feed_.NextStep() <= high_) Take(feed_.PopStep(now_));
  while (!is_broken_ && feed_.NextTime() <= now_) {
    if (const auto event = PopTime()) Take(*event);
  }
}

// Spends time at the end of a step. Returns false if a failure breaks it off, or if it is part of a
// restart, which begins again because devices return.
bool SimulatedRun::Spend(PhaseKind kind, Duration length, const std::string& reason) {
  const Duration end = now_ + length;
  while (feed_.NextTime() < end) {
    RecordUntil(kind, feed_.NextTime(), reason);
    if (const auto event = PopTime()) Take(*event);
    if (is_broken_ || Grows()) return false;
  }
  RecordUntil(kind, end, reason);
  return true;
}

void SimulatedRun::RecordUntil(PhaseKind kind, Duration end, const std::string& reason) {
  if (end <= now_) return;
  const Duration length = std::min(end, kLongestTime) - now_;
  const int working = setup_.devices - static_cast<int>(health_.state().down.size());
  recorder_.Add({kind, step_, 0, now_, length, {}, working, reason});
  now_ += length;
  if (end > kLongestTime) GiveUp(kTooLong);
}

// No device of the run is down, but its step cannot go on.
void SimulatedRun::Stall() {
  const Duration limit = now_ + spec_.recovery.detection;
  while (!is_broken_ && !step_here_) {
    const Duration next = feed_.NextTime();
    RecordUntil(PhaseKind::kWaiting, std::min(next, limit), "no step can go on");
    FinishWrite();
    if (next > limit) return Break(nullptr);
    if (const auto event = PopTime()) Take(*event);
    if (is_pending_ && spent_ == Duration()) return;
    UpdateStep();
  }
}

}  // namespace stagecraft
