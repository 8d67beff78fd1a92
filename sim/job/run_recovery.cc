// What events change in a run, and how it recovers from failures.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/job/simulated_run.h"

namespace stagecraft {
namespace {

using Policy = Recovery::Policy;
using What = ClusterEvent::What;

// A run in which so much happens does not get on.
constexpr int64_t kMostEvents = 10'000'000;

bool Includes(const std::vector<int>& all, const std::vector<int>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

std::optional<ClusterEvent> SimulatedRun::PopTime() {
  if (++events_ > kMostEvents) {
    GiveUp(fmt::format("{} events have happened, and the run does not get on", kMostEvents));
  }
  return feed_.PopTime();
}

void SimulatedRun::Take(const ClusterEvent& event) {
  if (event.what == What::kLeave && event.notice > Duration()) return;  // comes again without it
  health_.Apply(event);
  if (!is_broken_) NoteChange(event);
}

void SimulatedRun::NoteChange(const ClusterEvent& event) {
  const ClusterState& state = health_.state();
  if (!Includes(running_.down, state.down)) {
    if (!IsUnaffected(state)) return Break(&event);
    is_stale_ = true;
    std::vector<int> down;
    std::set_union(running_.down.begin(), running_.down.end(), state.down.begin(), state.down.end(),
                   std::back_inserter(down));
    running_.down = std::move(down);
  }
  if (state == running_) {
    is_pending_ = false;
  } else if (spec_.recovery.policy == Policy::kReplan) {
    is_pending_ = true;
  } else {
    running_.slow = state.slow;
    running_.slow_links = state.slow_links;
    std::erase_if(running_.slow, [this](const auto& slow) {
      return std::binary_search(running_.down.begin(), running_.down.end(), slow.first);
    });
    is_pending_ = state.down != running_.down;
    is_stale_ = true;
  }
}

// Whether the devices that are newly down did nothing for the run: their replica had been dropped.
bool SimulatedRun::IsUnaffected(const ClusterState& state) {
  if (spec_.recovery.policy != Policy::kShrink) return false;
  ClusterState less = running_;
  less.down.clear();
  std::set_union(running_.down.begin(), running_.down.end(), state.down.begin(), state.down.end(),
                 std::back_inserter(less.down));
  std::erase_if(less.slow, [&](const auto& slow) {
    return std::binary_search(less.down.begin(), less.down.end(), slow.first);
  });
  UpdateStep();
  return step_here_ && memo_->Step(less, network_) == step_here_;
}

// A failure, or no event if a step could not go on, ends the processes of the run.
void SimulatedRun::Break(const ClusterEvent* event) {
  FinishWrite();
  is_broken_ = true;
  is_noticed_ = event == nullptr || event->what == What::kLeave;
  cause_.reset();
  if (event != nullptr) {
    cause_ = *event;
  } else if (const auto link = DeadLink()) {
    cause_ = ClusterEvent{{EventTarget::Kind::kLink, *link}, What::kFail};
  }
  ++recorder_.totals().failures;
  if (step_ >= high_) recorder_.LoseStep(partial_, partial_slowing_, Reason("lost when "));
  partial_ = partial_slowing_ = spent_ = Duration();
}

void SimulatedRun::Recover() {
  const Recovery& recovery = spec_.recovery;
  writing_.reset();
  if (!is_noticed_) {
    Pass(PhaseKind::kDetection, now_ + recovery.detection, Reason(""));
  }
  const bool may_keep = recovery.policy == Policy::kShrink && recovery.survivors_hold_state;
  if (!may_keep) step_ = saved_;
  const Choice choice = AwaitRunnable();
  const bool keeps_state = may_keep && !choice.has_waited;
  if (!keeps_state) {
    step_ = saved_;
    since_ = Duration();
  }
  is_broken_ = false;
  Run(health_.state());
  const std::string after = Reason("after: ");
  if (!Spend(PhaseKind::kRestart, recovery.restart, after)) return;
  if (!keeps_state && !Spend(PhaseKind::kReload, recovery.reload, after)) return;
  Spend(PhaseKind::kRebalancing, choice.move, after);
}

// Returns when the cluster can run the plan, or another one.
SimulatedRun::Choice SimulatedRun::AwaitRunnable() {
  Choice choice;
  UpdateNetwork();
  while (true) {
    while (feed_.NextStep() <= step_) Take(feed_.PopStep(now_));
    while (feed_.NextTime() <= now_) {
      if (const auto event = PopTime()) Take(*event);
    }
    if (spec_.recovery.policy == Policy::kSpare && SwapNodes()) continue;
    if (const auto plan = Choose(health_.state())) {
      choice.move = plan->move;
      return choice;
    }
    choice.has_waited = true;
    WaitForEvent();
  }
}

std::optional<Replanned> SimulatedRun::Choose(const ClusterState& state) {
  const Policy policy = spec_.recovery.policy;
  if ((policy == Policy::kRestart || policy == Policy::kSpare) && !state.down.empty()) return {};
  if (policy == Policy::kReplan && !state.IsWhole()) {
    if (auto plan = memo_->Replan(state, network_)) return plan;
  }
  const std::optional<RunningStep> step = memo_->Step(state, network_);
  return step ? std::optional(Replanned{*step, {}}) : std::nullopt;
}

// Puts spare nodes in the places of nodes that are down. Returns whether time may have passed.
bool SimulatedRun::SwapNodes() {
  spares_ += health_.TakeReturned();
  std::vector<int> nodes = health_.DownNodes();
  if (spares_ == 0 || nodes.empty()) return false;
  nodes.resize(std::min(nodes.size(), static_cast<size_t>(spares_)));
  std::string reason;
  if (recorder_.keeps_phases()) {
    reason = nodes.size() == 1 ? fmt::format("a spare node replaces node{}", nodes[0])
                               : fmt::format("spare nodes replace {} nodes", nodes.size());
  }
  Pass(PhaseKind::kWaiting, now_ + spec_.recovery.swap, reason);
  const std::vector<int> still_down = health_.DownNodes();
  for (const int node : nodes) {
    if (!std::binary_search(still_down.begin(), still_down.end(), node)) continue;
    health_.Replace(node);
    feed_.Replace(node);
    --spares_;
  }
  return true;
}

// Lets time pass while nothing runs that an event could break.
void SimulatedRun::Pass(PhaseKind kind, Duration end, const std::string& reason) {
  while (feed_.NextTime() < end) {
    RecordUntil(kind, feed_.NextTime(), reason);
    if (const auto event = PopTime()) Take(*event);
  }
  RecordUntil(kind, end, reason);
}

void SimulatedRun::WaitForEvent() {
  const Duration next = feed_.NextTime();
  if (next > kLongestTime) GiveUp("nothing that is still to happen lets the plan run again");
  RecordUntil(PhaseKind::kWaiting, next, Reason(""));
  if (const auto event = PopTime()) Take(*event);
}

// At the end of a step, devices that returned join the run, or it moves to another plan.
void SimulatedRun::Regroup() {
  const ClusterState& state = health_.state();
  const Recovery& recovery = spec_.recovery;
  is_pending_ = false;
  UpdateStep();
  const bool gains_devices = state.down != running_.down;
  std::optional<Replanned> plan;
  if (recovery.policy == Policy::kReplan) {
    if (!state.IsWhole()) plan = memo_->Replan(state, network_);
  } else {
    const std::optional<RunningStep> grown = memo_->Step(state, network_);
    if (!grown) return;
    if (grown == step_here_) return Run(state);
  }
  Run(state);
  if (gains_devices) {
    if (!Spend(PhaseKind::kRestart, recovery.restart, "devices return")) return;
    if (!Spend(PhaseKind::kReload, recovery.reload, "devices return")) return;
  }
  if (plan) Spend(PhaseKind::kRebalancing, plan->move, "the cluster has changed");
}

void SimulatedRun::Run(const ClusterState& state) {
  running_ = state;
  is_pending_ = false;
  is_stale_ = true;
}

// The first link that is down.
std::optional<int> SimulatedRun::DeadLink() const {
  for (const auto& [link, rate] : health_.state().slow_links) {
    if (rate == 0) return link;
  }
  return std::nullopt;
}

std::string SimulatedRun::Cause() const {
  if (cause_) return Describe(*cause_, *spec_.cluster);
  return now_ == Duration() ? "the cluster is not complete" : "a step could not go on";
}

// The text and the cause of the last failure; empty if nobody will read it.
std::string SimulatedRun::Reason(const char* before) const {
  return recorder_.keeps_phases() ? before + Cause() : "";
}

void SimulatedRun::GiveUp(const std::string& why) const {
  const size_t down = health_.state().down.size();
  throw RunCannotContinue(fmt::format(
      "the run stops at {:.1f} s with {} of {} steps: {}; {} of the {} devices of the plan are "
      "left, and {}",
      now_.seconds(), step_, spec_.steps, Cause(), setup_.devices - static_cast<int>(down),
      setup_.devices, why));
}

}  // namespace stagecraft
