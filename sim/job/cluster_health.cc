#include "sim/job/cluster_health.h"

#include <algorithm>

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;
using What = ClusterEvent::What;

}  // namespace

SlowParts SlowPartsOf(const ClusterState& state) { return {state.slow, state.slow_links}; }

ClusterHealth::ClusterHealth(const Cluster& cluster, const Racks& racks,
                             std::span<const char> uses_device)
    : cluster_(cluster), racks_(racks), uses_device_(uses_device) {}

void ClusterHealth::Apply(const ClusterEvent& event) {
  is_stale_ = true;
  if (event.target.kind != Kind::kRack) return ApplyToPart(event, event.target, &Condition::rate);
  const int end = racks_.first_node(event.target.index + 1);
  for (int node = racks_.first_node(event.target.index); node < end; ++node) {
    ApplyToPart(event, {Kind::kNode, node}, &Condition::rack_rate);
  }
}

void ClusterHealth::ApplyToPart(const ClusterEvent& event, EventTarget target,
                                double Condition::*rate) {
  const bool ends = event.what == What::kRecover || event.what == What::kJoin;
  if (ends && EndAway(target)) return;
  Condition& condition = conditions_[target];
  switch (event.what) {
    case What::kSlow:
      condition.*rate = event.rate;
      break;
    case What::kFail:
    case What::kLeave:
      ++condition.down;
      break;
    case What::kRecover:
    case What::kJoin:
      condition.down = std::max(condition.down - 1, 0);
      condition.*rate = 1;
      break;
  }
  if (condition.IsNormal()) conditions_.erase(target);
}

bool ClusterHealth::EndAway(EventTarget target) {
  for (auto away = away_.begin(); away != away_.end(); ++away) {
    const auto found = std::find(away->begin(), away->end(), target);
    if (found == away->end()) continue;
    away->erase(found);
    if (away->empty()) {
      away_.erase(away);
      ++returned_;
    }
    return true;
  }
  return false;
}

template <typename Visit>
void ClusterHealth::VisitDevices(const EventTarget& target, const Visit& visit) const {
  if (target.kind == Kind::kLink) return;
  if (target.kind == Kind::kDevice) {
    if (Uses(target.index)) visit(target.index);
    return;
  }
  const int first = cluster_.first_device(target.index);
  for (int i = 0; i < cluster_.node(target.index).devices; ++i) {
    if (Uses(first + i)) visit(first + i);
  }
}

const ClusterState& ClusterHealth::state() const {
  if (!is_stale_) return state_;
  is_stale_ = false;
  std::vector<int>& down = state_.down;
  down.clear();
  state_.slow_links.clear();
  std::map<int, double> slow;
  for (const auto& [target, condition] : conditions_) {
    if (target.kind == Kind::kLink) {
      const double rate = condition.down > 0 ? 0 : condition.rate;
      state_.slow_links.emplace_back(target.index, rate);
    } else if (condition.down > 0) {
      VisitDevices(target, [&](int device) { down.push_back(device); });
    } else {
      VisitDevices(target, [&slow, rate = condition.rate * condition.rack_rate](int device) {
        slow.try_emplace(device, 1).first->second *= rate;
      });
    }
  }
  std::sort(down.begin(), down.end());
  down.erase(std::unique(down.begin(), down.end()), down.end());
  state_.slow.clear();
  for (const auto& entry : slow) {
    if (!std::binary_search(down.begin(), down.end(), entry.first)) state_.slow.push_back(entry);
  }
  return state_;
}

std::vector<int> ClusterHealth::DownNodes() const {
  std::vector<int> nodes;
  for (const int device : state().down) {
    const int node = cluster_.place(device).node;
    if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
  }
  return nodes;
}

bool ClusterHealth::HasWorkingDevice(const EventTarget& target) const {
  bool has_one = false;
  const auto visit = [&](int device) {
    has_one = has_one || !std::binary_search(state().down.begin(), state().down.end(), device);
  };
  if (target.kind != Kind::kRack) {
    VisitDevices(target, visit);
    return has_one;
  }
  const int end = racks_.first_node(target.index + 1);
  for (int node = racks_.first_node(target.index); node < end; ++node) {
    VisitDevices({Kind::kNode, node}, visit);
  }
  return has_one;
}

void ClusterHealth::Replace(int node) {
  is_stale_ = true;
  Away away;
  const auto take = [&](auto first, auto last) {
    for (auto at = first; at != last; ++at) away.insert(away.end(), at->second.down, at->first);
    conditions_.erase(first, last);
  };
  take(conditions_.lower_bound({Kind::kNode, node}), conditions_.upper_bound({Kind::kNode, node}));
  const int first = cluster_.first_device(node);
  take(conditions_.lower_bound({Kind::kDevice, first}),
       conditions_.lower_bound({Kind::kDevice, first + cluster_.node(node).devices}));
  if (!away.empty()) away_.push_back(std::move(away));
}

}  // namespace stagecraft
