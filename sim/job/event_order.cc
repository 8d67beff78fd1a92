#include "sim/job/event_order.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;
using What = ClusterEvent::What;

class EventChecker {
 public:
  EventChecker(std::span<const ClusterEvent> events, const Cluster& cluster, const Racks& racks)
      : events_(events), cluster_(cluster), order_(cluster, racks) {}

  std::vector<std::string> Check() {
    for (size_t i = 0; i < events_.size(); ++i) {
      CheckTime(i);
      CheckKind(i);
      CheckNotice(i);
      if (const auto error = order_.Take(events_[i])) Add(i, "{}", *error);
      last_of_[events_[i].target] = i;
    }
    for (const auto& [target, last] : last_of_) {
      if (target.kind == Kind::kLink && order_.IsDown(target)) {
        Add(last, "{} is down and never returns, want a later event that recovers it",
            NameOf(target, cluster_));
      }
    }
    return std::move(errors_);
  }

 private:
  template <typename... Args>
  void Add(size_t event, fmt::format_string<Args...> text, Args&&... args) {
    errors_.push_back(
        fmt::format("events[{}]: {}", event, fmt::format(text, std::forward<Args>(args)...)));
  }

  void CheckTime(size_t i) {
    const ClusterEvent& event = events_[i];
    if (event.at_step >= 0) {
      if (event.at_step < last_step_) {
        Add(i, "got step {} after step {}, want events in order", event.at_step, last_step_);
      }
      last_step_ = event.at_step;
      return;
    }
    if (event.at < Duration()) {
      Add(i, "got {} s, want a time from the start of the run on", event.at.seconds());
    } else if (event.at < last_time_) {
      Add(i, "got {} s after {} s, want events in order", event.at.seconds(), last_time_.seconds());
    }
    last_time_ = event.at;
  }

  void CheckKind(size_t i) {
    const ClusterEvent& event = events_[i];
    const bool is_link = event.target.kind == Kind::kLink;
    const std::string name = NameOf(event.target, cluster_);
    if (event.what == What::kSlow) {
      if (!(event.rate >= 0 && event.rate <= 1)) {
        Add(i, "rate: got {}, want from 0 to 1", event.rate);
      } else if (event.rate == 0 && !is_link) {
        Add(i, "rate: got 0, want above 0: let {} fail instead", name);
      }
    }
    if (is_link && event.what == What::kJoin) Add(i, "{} is a link, which cannot join", name);
    if (is_link && event.what == What::kLeave) Add(i, "{} is a link, which cannot leave", name);
  }

  // Until a part leaves as announced, nothing else may happen to it.
  void CheckNotice(size_t i) {
    const ClusterEvent& event = events_[i];
    if (event.at_step >= 0) return;
    const auto leaves = leaves_.find(event.target);
    if (leaves != leaves_.end() && event.at < leaves->second) {
      Add(i, "{} has an event at {} s, want it after {} s, when it leaves as announced",
          NameOf(event.target, cluster_), event.at.seconds(), leaves->second.seconds());
    }
    if (event.what == What::kLeave) leaves_[event.target] = event.at + event.notice;
  }

  std::span<const ClusterEvent> events_;
  const Cluster& cluster_;
  EventOrder order_;
  std::map<EventTarget, size_t> last_of_;
  std::map<EventTarget, Duration> leaves_;
  Duration last_time_;
  int64_t last_step_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace

std::optional<std::string> EventOrder::Take(const ClusterEvent& event) {
  const auto [found, is_first] = states_.try_emplace(event.target);
  PartState& state = found->second;
  const std::string name = NameOf(event.target, cluster_);
  if (is_first && event.what == What::kJoin) {
    if (const auto around = AbsentAround(event.target)) {
      const std::string whole = NameOf(*around, cluster_);
      return fmt::format("{} joins, but it left with {}, want {} to join", name, whole, whole);
    }
    state.is_absent = true;  // A part whose first event is its arrival was absent before.
  }
  const PartState before = state;
  switch (event.what) {
    case What::kSlow:
      state.rate = event.rate;
      if (before.is_absent) return name + " slows down after it left, want it to join first";
      if (before.is_down) return name + " slows down while it is down, want it to recover first";
      return std::nullopt;
    case What::kFail:
      state.is_down = true;
      if (before.is_absent) return name + " fails after it left, want it to join first";
      if (before.is_down) return name + " fails twice, want it to recover in between";
      return std::nullopt;
    case What::kRecover:
      state.is_down = false;
      state.rate = 1;
      if (before.is_absent) return name + " recovers after it left, want it to join";
      if (before.is_down || before.rate != 1) return std::nullopt;
      return name + " recovers, but it neither failed nor was slow before";
    case What::kJoin:
      state.is_absent = false;
      state.rate = 1;
      if (before.is_absent) return std::nullopt;
      return name + " joins, but it did not leave before";
    case What::kLeave:
      state.is_absent = true;
      if (before.is_absent) return name + " leaves twice, want it to join in between";
      if (before.is_down) return name + " leaves while it is down, want it to recover first";
      return std::nullopt;
  }
  return std::nullopt;
}

// Returns the node or the rack that the part is in, if that has left.
std::optional<EventTarget> EventOrder::AbsentAround(const EventTarget& target) const {
  if (target.kind == Kind::kLink || target.kind == Kind::kRack) return std::nullopt;
  const bool is_node = target.kind == Kind::kNode;
  const int node = is_node ? target.index : cluster_.place(target.index).node;
  std::vector<EventTarget> around;
  if (!is_node) around.push_back({Kind::kNode, node});
  if (racks_.count() > 0) around.push_back({Kind::kRack, racks_.rack(node)});
  for (const EventTarget& part : around) {
    const auto found = states_.find(part);
    if (found != states_.end() && found->second.is_absent) return part;
  }
  return std::nullopt;
}

bool EventOrder::HasFailed(const EventTarget& target) const {
  const auto found = states_.find(target);
  return found != states_.end() && found->second.is_down;
}

bool EventOrder::IsDown(const EventTarget& target) const {
  const auto found = states_.find(target);
  return found != states_.end() && (found->second.is_down || found->second.rate == 0);
}

std::vector<std::string> FindErrors(std::span<const ClusterEvent> events, const Cluster& cluster,
                                    const Racks& racks) {
  return EventChecker(events, cluster, racks).Check();
}

}  // namespace stagecraft
