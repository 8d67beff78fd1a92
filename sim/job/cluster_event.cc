#include "sim/job/cluster_event.h"

#include <fmt/core.h>

#include <cstddef>
#include <map>
#include <optional>

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;
using What = ClusterEvent::What;

// What the events before have made of a part.
struct PartState {
  bool is_down = false;
  bool is_absent = false;
  double rate = 1;
  size_t last = 0;  // its last event
};

bool IsLinkDown(const PartState& state) { return state.is_down || state.rate == 0; }

class EventChecker {
 public:
  EventChecker(std::span<const ClusterEvent> events, const Cluster& cluster)
      : events_(events), cluster_(cluster) {}

  std::vector<std::string> Check() {
    for (size_t i = 0; i < events_.size(); ++i) {
      CheckTime(i);
      CheckChange(i);
    }
    for (const auto& [target, state] : states_) {
      if (target.kind == Kind::kLink && IsLinkDown(state)) {
        Add(state.last, "{} is down and never returns, want a later event that recovers it",
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

  void CheckChange(size_t i) {
    const ClusterEvent& event = events_[i];
    const auto [found, is_first] = states_.try_emplace(event.target);
    PartState& state = found->second;
    const std::string name = NameOf(event.target, cluster_);
    state.last = i;
    switch (event.what) {
      case What::kSlow:
        CheckRate(i, name);
        state.rate = event.rate;
        return;
      case What::kFail:
        if (state.is_down) Add(i, "{} fails twice, want it to recover in between", name);
        if (state.is_absent) Add(i, "{} fails after it left, want it to join first", name);
        state.is_down = true;
        return;
      case What::kRecover:
        if (!state.is_down && state.rate == 1) {
          Add(i, "{} recovers, but it neither failed nor was slow before", name);
        }
        state.is_down = false;
        state.rate = 1;
        return;
      case What::kJoin:
        if (!is_first && !state.is_absent) Add(i, "{} joins, but it did not leave before", name);
        if (event.target.kind == Kind::kLink) Add(i, "{} is a link, which cannot join", name);
        state.is_absent = false;
        return;
      case What::kLeave:
        if (state.is_absent) Add(i, "{} leaves twice, want it to join in between", name);
        if (state.is_down) Add(i, "{} leaves while it is down, want it to recover first", name);
        if (event.target.kind == Kind::kLink) Add(i, "{} is a link, which cannot leave", name);
        state.is_absent = true;
        return;
    }
  }

  void CheckRate(size_t i, const std::string& name) {
    const double rate = events_[i].rate;
    const bool is_link = events_[i].target.kind == Kind::kLink;
    if (!(rate >= 0 && rate <= 1)) {
      Add(i, "rate: got {}, want from 0 to 1", rate);
    } else if (rate == 0 && !is_link) {
      Add(i, "rate: got 0, want above 0: let {} fail instead", name);
    }
  }

  std::span<const ClusterEvent> events_;
  const Cluster& cluster_;
  std::map<EventTarget, PartState> states_;
  Duration last_time_;
  int64_t last_step_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace

Racks::Racks(const Cluster& cluster, int nodes_per_rack) {
  const int nodes = cluster.node_count();
  rack_.resize(static_cast<size_t>(nodes));
  const auto starts_rack = [&](int node) {
    if (node == 0) return true;
    if (nodes_per_rack > 0) return node % nodes_per_rack == 0;
    return cluster.domain(node) != cluster.domain(node - 1);
  };
  for (int node = 0; node < nodes; ++node) {
    if (starts_rack(node)) first_.push_back(node);
    rack_[node] = static_cast<int>(first_.size()) - 1;
  }
  if (nodes_per_rack == 0 && static_cast<int>(first_.size()) == nodes) first_.clear();
  first_.push_back(nodes);
}

std::string NameOf(const EventTarget& target, const Cluster& cluster) {
  switch (target.kind) {
    case Kind::kDevice:
      return cluster.DeviceName(target.index);
    case Kind::kNode:
      return fmt::format("node{}", target.index);
    case Kind::kLink:
      return cluster.LinkName(target.index);
    case Kind::kRack:
      break;
  }
  return fmt::format("rack{}", target.index);
}

std::string Describe(const ClusterEvent& event, const Cluster& cluster) {
  const std::string name = NameOf(event.target, cluster);
  switch (event.what) {
    case What::kSlow:
      return fmt::format("{} slowed to {} of its speed", name, event.rate);
    case What::kFail:
      return name + " failed";
    case What::kRecover:
      return name + " recovered";
    case What::kJoin:
      return name + " joined";
    case What::kLeave:
      break;
  }
  return name + " left";
}

std::vector<std::string> FindErrors(std::span<const ClusterEvent> events, const Cluster& cluster) {
  return EventChecker(events, cluster).Check();
}

}  // namespace stagecraft
