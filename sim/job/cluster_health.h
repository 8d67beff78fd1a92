// ClusterHealth: which parts of a cluster are down or slow after some events.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cluster/slow_parts.h"
#include "sim/job/cluster_event.h"

namespace stagecraft {

// What differs from a cluster on which everything works at full speed. Numbers ascend, so that
// equal states compare equal.
struct ClusterState {
  std::vector<int> down;                           // The devices that failed or are absent.
  std::vector<std::pair<int, double>> slow;        // The slow devices, with rates in (0, 1).
  std::vector<std::pair<int, double>> slow_links;  // The same for links, in [0, 1).

  bool IsWhole() const { return down.empty() && slow.empty() && slow_links.empty(); }
  friend auto operator<=>(const ClusterState&, const ClusterState&) = default;
};

// Returns what is slow in a state, for Cluster::WithSlowParts(): a step on what is left of a
// cluster is SimulateStep() of a plan without the devices that are down, on the cluster with these
// parts.
SlowParts SlowPartsOf(const ClusterState& state);

// A part is down as long as one failure of it, of its node or of its rack is not repaired.
class ClusterHealth {
 public:
  // Only devices with a nonzero entry in `uses_device` appear in states; all do if it is empty. The
  // arguments must outlive this object.
  ClusterHealth(const Cluster& cluster, const Racks& racks, std::span<const char> uses_device);

  // A kLeave takes effect at once: notice is the business of the caller.
  void Apply(const ClusterEvent& event);
  const ClusterState& state() const;

  // Returns the nodes with a device that is down, ascending.
  std::vector<int> DownNodes() const;
  // Returns whether a device of the part is not down.
  bool HasWorkingDevice(const EventTarget& target) const;
  // A spare node takes the place of `node`, which is away until its failures are repaired. Nothing
  // of the new node is down or slow. If a part of it fails as well, the older failure of this part
  // is the one that is repaired first.
  void Replace(int node);
  // Returns how many nodes came back as spare nodes since the last call.
  int TakeReturned() { return std::exchange(returned_, 0); }

 private:
  struct Condition {
    int down = 0;  // The number of failures and departures that are not over.
    double rate = 1;
    double rack_rate = 1;  // The rate of the rack, for a node.
    bool IsNormal() const { return down == 0 && rate == 1 && rack_rate == 1; }
  };
  // A node that was replaced: the failures of it and its devices that are not over.
  using Away = std::vector<EventTarget>;

  // The rate is one of the members of Condition.
  void ApplyToPart(const ClusterEvent& event, EventTarget target, double Condition::*rate);
  bool EndAway(EventTarget target);
  bool Uses(int device) const { return uses_device_.empty() || uses_device_[device]; }
  template <typename Visit>
  void VisitDevices(const EventTarget& target, const Visit& visit) const;

  const Cluster& cluster_;
  const Racks& racks_;
  std::span<const char> uses_device_;
  std::map<EventTarget, Condition> conditions_;  // The parts that are not normal; none is a rack.
  std::vector<Away> away_;
  int returned_ = 0;
  mutable bool is_stale_ = false;
  mutable ClusterState state_;
};

}  // namespace stagecraft
