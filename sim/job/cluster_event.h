// ClusterEvent: something that happens to a part of a cluster during a training run.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

// The racks of a cluster: runs of consecutive nodes that can fail together.
class Racks {
 public:
  // Racks have `nodes_per_rack` nodes each, or, if that is 0, are the scale-up domains if any of
  // these has several nodes. Precondition: nodes_per_rack >= 0.
  Racks(const Cluster& cluster, int nodes_per_rack);

  // Returns 0 if no racks are known.
  int count() const { return static_cast<int>(first_.size()) - 1; }
  // The nodes of a rack are first_node(rack), ..., first_node(rack + 1) - 1.
  int first_node(int rack) const { return first_[rack]; }
  // Precondition: count() > 0.
  int rack(int node) const { return rack_[node]; }

 private:
  std::vector<int> first_;  // The first node of each rack, and the end of the last one.
  std::vector<int> rack_;   // The rack of each node.
};

// A part of a cluster: devices, nodes, links and racks are numbered as in Cluster and Racks.
struct EventTarget {
  enum class Kind { kDevice, kNode, kLink, kRack };
  Kind kind = Kind::kDevice;
  int index = 0;
  friend auto operator<=>(const EventTarget&, const EventTarget&) = default;
};
// Returns "node3/gpu1", "node3", "node0/gpu3 -> node0/nic3" or "rack2".
std::string NameOf(const EventTarget& target, const Cluster& cluster);

struct ClusterEvent {
  enum class What {
    kSlow,     // The part works at `rate` from now on; a link at rate 0 is down.
    kFail,     // The part is down without notice; a link that fails has rate 0.
    kRecover,  // The part works at full speed again.
    kJoin,     // The part is there from now on.
    kLeave,    // The part leaves `notice` later.
  };
  EventTarget target;
  What what = What::kFail;
  double rate = 1;       // The speed that is left, for kSlow.
  Duration notice = {};  // The time until it leaves, for kLeave.
  Duration at = {};      // The time since the start of the run, if at_step < 0.
  int64_t at_step = -1;  // Otherwise it happens when the run has first completed this many steps.
};
// Returns "node3/gpu1 failed", "rack2 left" or the like.
std::string Describe(const ClusterEvent& event, const Cluster& cluster);

}  // namespace stagecraft
