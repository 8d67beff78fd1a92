// SimulatedRun, third part: what events change.
#include <fmt/core.h>

#include <algorithm>

#include "sim/job/ascending.h"
#include "sim/job/simulated_run.h"

namespace stagecraft {
namespace {

using Policy = Recovery::Policy;
using What = ClusterEvent::What;

}  // namespace

std::optional<ClusterEvent> SimulatedRun::PopTime() {
  const std::optional<ClusterEvent> event = feed_.PopTime();
  // Slow devices are finitely many, and may be all devices of a large cluster at once.
  if (!event || event->what != What::kSlow) CountTurn();
  return event;
}

void SimulatedRun::Take(const ClusterEvent& event) {
  if (event.what == What::kLeave && event.notice > Duration()) return;  // It comes again without.
  health_.Apply(event);
  if (is_rejoining_ && MayKeepState()) without_state_ = Union(without_state_, health_.state().down);
  if (!is_broken_) NoteChange(event);
}

void SimulatedRun::NoteChange(const ClusterEvent& event) {
  const ClusterState& state = health_.state();
  const Policy policy = spec_.recovery.policy;
  const bool may_change = policy == Policy::kShrink || policy == Policy::kReplan;
  if (!Includes(running_.down, state.down)) {
    if (!may_change || !Includes(DevicesOff(), state.down)) return Break(&event);
  }
  if (policy != Policy::kReplan && state != running_) {
    running_ = Joined(state);
    is_stale_ = true;
  }
  is_pending_ = state != running_;
}

// A state as it is for the devices that are part of the run: others have not joined it yet.
ClusterState SimulatedRun::Joined(const ClusterState& state) const {
  ClusterState joined = state;
  joined.down = Union(running_.down, state.down);
  std::erase_if(joined.slow, [&joined](const auto& slow) {
    return std::binary_search(joined.down.begin(), joined.down.end(), slow.first);
  });
  return joined;
}

// A failure, or no event if a step could not go on, ends the processes of the run.
void SimulatedRun::Break(const ClusterEvent* event) {
  FinishWrite();
  if (MayKeepState()) {
    if (!is_rejoining_) without_state_ = DevicesOff();
    without_state_ = Union(without_state_, health_.state().down);
  }
  is_rejoining_ = is_broken_ = true;
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

// Returns the first link that is down.
std::optional<int> SimulatedRun::DeadLink() const {
  for (const auto& [link, rate] : health_.state().slow_links) {
    if (rate == 0) return link;
  }
  return std::nullopt;
}

std::string SimulatedRun::Cause() const {
  if (cause_) return Describe(*cause_, *spec_.cluster);
  return is_rejoining_ ? "a step could not go on" : "the cluster is not complete";
}

// Returns the text and the cause of the last failure; nothing if nobody will read it.
std::string SimulatedRun::Reason(std::string_view before) const {
  return recorder_.keeps_phases() ? std::string(before) + Cause() : "";
}

void SimulatedRun::GiveUp(const std::string& why) const {
  const int left = setup_.devices - static_cast<int>(health_.state().down.size());
  const std::string cause = is_broken_ && !health_.state().IsWhole()
                                ? fmt::format("{}; {} of the {} devices of the plan are left, and ",
                                              Cause(), left, setup_.devices)
                                : "";
  throw RunCannotContinue(fmt::format("the run stops at {:.1f} s with {} of {} steps: {}{}",
                                      now_.seconds(), step_, spec_.steps, cause, why));
}

}  // namespace stagecraft
