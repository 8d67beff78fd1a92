// SimulatedRun, second part: how a run recovers from failures, and takes in devices that return.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "sim/job/ascending.h"
#include "sim/job/simulated_run.h"

namespace stagecraft {
namespace {

using Policy = Recovery::Policy;

}  // namespace

void SimulatedRun::Recover() {
  AbortWrite();
  if (!is_noticed_) {
    Pass(PhaseKind::kDetection, now_ + spec_.recovery.detection, Reason(""));
  }
  Choice choice = AwaitRunnable();
  is_broken_ = false;
  Rejoin(std::move(choice), Reason(kAfterReason));
}

// Returns what the run goes on with when the cluster can run the plan, or another one.
SimulatedRun::Choice SimulatedRun::AwaitRunnable() {
  while (true) {
    while (feed_.NextStep() <= high_) Take(feed_.PopStep(now_));
    while (feed_.NextTime() <= now_) {
      if (const auto event = PopTime()) Take(*event);
    }
    UpdateNetwork();
    if (is_rejoining_ && !StateIsHeld()) LoseState();
    if (spec_.recovery.policy == Policy::kSpare && SwapNodes()) continue;
    if (auto choice = Choose(health_.state())) return *std::move(choice);
    WaitForEvent();
  }
}

std::optional<SimulatedRun::Choice> SimulatedRun::Choose(const ClusterState& state) {
  const Policy policy = spec_.recovery.policy;
  if ((policy == Policy::kRestart || policy == Policy::kSpare) && !state.down.empty()) return {};
  if (policy == Policy::kReplan && !state.IsWhole()) {
    if (const auto& plan = memo_->Replan(state, network_)) {
      return Choice{state, plan->step, plan->move, true};
    }
  }
  const std::optional<RunningStep>& step = memo_->Step(state, network_);
  if (!step) return std::nullopt;
  return Choice{state, *step, {}, false};
}

// Returns whether a failure may leave devices that hold the whole state.
bool SimulatedRun::MayKeepState() const {
  return spec_.recovery.policy == Policy::kShrink && spec_.recovery.survivors_hold_state;
}

// Returns whether the devices that have followed the last step hold the whole state: the plan could
// go on with them alone. A link that is down keeps them from it, but takes no state.
bool SimulatedRun::StateIsHeld() {
  if (is_state_lost_ || !MayKeepState()) return false;
  ClusterState holders = health_.state();
  holders.down = without_state_;
  std::erase_if(holders.slow, [&](const auto& slow) {
    return std::binary_search(holders.down.begin(), holders.down.end(), slow.first);
  });
  std::erase_if(holders.slow_links, [](const auto& link) { return link.second == 0; });
  return memo_->Step(holders, network_).has_value();
}

// Leaves nothing but the last checkpoint.
void SimulatedRun::LoseState() {
  is_state_lost_ = true;
  step_ = saved_;
  owed_ = nullptr;
  since_ = Duration();
  UpdateNetwork();
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
  if (health_.state().IsWhole()) GiveUp(kNeverRuns);
  const Duration next = feed_.NextTime();
  if (next == Duration::Max()) {
    GiveUp("nothing that is still to happen lets the plan run again");
  }
  RecordUntil(PhaseKind::kWaiting, next, Reason(""));
  if (const auto event = PopTime()) Take(*event);
}

// At the end of a step, devices that returned join the run, or it moves to another plan.
void SimulatedRun::Regroup() {
  UpdateStep();
  is_pending_ = false;
  std::optional<Choice> choice = Choose(health_.state());
  if (!choice) {
    const ClusterState joined = Joined(health_.state());
    choice = Choose(joined);
    if (!choice) return Run(joined);
  }
  if (Gains(*choice)) {
    without_state_ = DevicesOff();
    is_rejoining_ = true;
    return Rejoin(*std::move(choice), std::string(kDevicesReturnReason));
  }
  const bool is_same = step_here_ && step_here_->time == choice->step.time &&
                       DevicesOff() == Union(choice->state.down, choice->step.idle);
  const Duration move = MoveTo(*choice);
  Run(choice->state);
  if (spec_.recovery.policy != Policy::kReplan || is_same) return;
  plan_move_ = choice->is_replanned ? choice->move : Duration();
  Spend(PhaseKind::kRebalancing, move, "the cluster has changed");
}

// Restarts the processes, loads the state where it is lacking, and moves it to the plan. Begins
// again if devices return meanwhile, and ends early if another failure breaks the run.
void SimulatedRun::Rejoin(Choice choice, const std::string& reason) {
  FinishWrite();
  AbortWrite();
  while (true) {
    const Duration move = MoveTo(choice);
    Run(choice.state);
    const bool has_state =
        !is_state_lost_ && Includes(Union(choice.state.down, choice.step.idle), without_state_);
    if (Spend(PhaseKind::kRestart, spec_.recovery.restart, reason) &&
        (has_state || Spend(PhaseKind::kReload, spec_.recovery.reload, reason)) &&
        Spend(PhaseKind::kRebalancing, move, reason)) {
      break;
    }
    if (is_broken_) return;
    std::optional<Choice> grown = Choose(health_.state());
    CHECK(grown);
    choice = *std::move(grown);
  }
  is_rejoining_ = is_state_lost_ = false;
  plan_move_ = choice.is_replanned ? choice.move : Duration();
}

// Returns whether devices have returned that join the restart in progress.
bool SimulatedRun::Grows() {
  if (!is_rejoining_ || !is_pending_) return false;
  const std::optional<Choice> choice = Choose(health_.state());
  return choice && Gains(*choice);
}

// Returns whether devices work in it that do not work now.
bool SimulatedRun::Gains(const Choice& choice) {
  return !Includes(Union(choice.state.down, choice.step.idle), DevicesOff());
}

// Returns the devices of the plan that are not at work, ascending.
std::vector<int> SimulatedRun::DevicesOff() {
  UpdateStep();
  return step_here_ ? Union(running_.down, step_here_->idle) : running_.down;
}

// Returns what it takes to move the state to another plan, or back to the original one. A
// checkpoint has it where the original plan wants it.
Duration SimulatedRun::MoveTo(const Choice& choice) const {
  if (choice.is_replanned) return choice.move;
  return is_state_lost_ ? Duration() : plan_move_;
}

void SimulatedRun::Run(const ClusterState& state) {
  running_ = state;
  is_pending_ = false;
  is_stale_ = true;
}

}  // namespace stagecraft
