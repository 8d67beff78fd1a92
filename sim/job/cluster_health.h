// ClusterHealth: which parts of a cluster are down or slow after some events.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"

namespace stagecraft {

// What differs from a cluster on which everything works at full speed. Ascending by number, so that
// equal states compare equal.
struct ClusterState {
  std::vector<int> down;                           // devices, failed or absent
  std::vector<std::pair<int, double>> slow;        // other devices with rate in (0, 1)
  std::vector<std::pair<int, double>> slow_links;  // links with rate in [0, 1)

  bool IsWhole() const { return down.empty() && slow.empty() && slow_links.empty(); }
  friend auto operator<=>(const ClusterState&, const ClusterState&) = default;
};

// A part is down as long as one failure of it, of its node or of its rack is not repaired.
class ClusterHealth {
 public:
  // Only `devices` appear in states; if there are none, all do. The others must outlive this.
  ClusterHealth(const Cluster& cluster, const Racks& racks, std::span<const char> uses_device);

  // A kLeave takes effect at once: notice is the business of the caller.
  void Apply(const ClusterEvent& event);
  const ClusterState& state() const;

  // Nodes with a device that is down, ascending.
  std::vector<int> DownNodes() const;
  // A spare node takes the place of `node`, which is away until everything that it suffers from has
  // ended. Nothing of the new node is down or slow.
  void Replace(int node);
  // Returns how many nodes came back as spare nodes since the last call.
  int TakeReturned() { return std::exchange(returned_, 0); }

 private:
  struct Condition {
    int down = 0;  // how many failures or departures are not over
    double rate = 1;
    bool IsNormal() const { return down == 0 && rate == 1; }
  };
  // A node that was replaced: the failures of it and its devices that are not over.
  using Away = std::vector<EventTarget>;

  void ApplyToPart(const ClusterEvent& event, EventTarget target);
  bool EndAway(EventTarget target);
  bool Uses(int device) const { return uses_device_.empty() || uses_device_[device]; }
  template <typename Visit>
  void VisitDevices(const EventTarget& target, const Visit& visit) const;

  const Cluster& cluster_;
  const Racks& racks_;
  std::span<const char> uses_device_;
  std::map<EventTarget, Condition> conditions_;  // of devices, nodes and links; none is normal
  std::vector<Away> away_;
  int returned_ = 0;
  mutable bool is_stale_ = false;
  mutable ClusterState state_;
};

}  // namespace stagecraft
