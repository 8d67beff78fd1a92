// ClusterEvent: something that happens to a part of a cluster during a training run.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

// The racks of a cluster: runs of consecutive nodes that can fail together.
class Racks {
 public:
  // `nodes_per_rack` nodes each, or, if that is 0, the scale-up domains if any has several nodes.
  // Precondition: nodes_per_rack >= 0.
  Racks(const Cluster& cluster, int nodes_per_rack);

  int count() const { return static_cast<int>(first_.size()) - 1; }  // 0: no racks are known
  // The nodes of a rack are first_node(rack), ..., first_node(rack + 1) - 1.
  int first_node(int rack) const { return first_[rack]; }
  // Precondition: count() > 0.
  int rack(int node) const { return rack_[node]; }

 private:
  std::vector<int> first_;  // with the end of the last rack
  std::vector<int> rack_;   // by node
};

// A part of a cluster: devices, nodes, links and racks are numbered as in Cluster and Racks.
struct EventTarget {
  enum class Kind { kDevice, kNode, kLink, kRack };
  Kind kind = Kind::kDevice;
  int index = 0;
  friend auto operator<=>(const EventTarget&, const EventTarget&) = default;
};
// "node3/gpu1", "node3", "node0/gpu3 -> node0/nic3", "rack2"
std::string NameOf(const EventTarget& target, const Cluster& cluster);

struct ClusterEvent {
  enum class What {
    kSlow,     // works at `rate` from now on; a link at rate 0 is down
    kFail,     // is down without notice; a link that fails has rate 0
    kRecover,  // works at full speed again
    kJoin,     // is there from now on
    kLeave,    // leaves `notice` later
  };
  EventTarget target;
  What what = What::kFail;
  double rate = 1;       // kSlow: the speed that is left
  Duration notice = {};  // kLeave
  Duration at = {};      // since the start of the run, if at_step < 0
  int64_t at_step = -1;  // otherwise: when the run has first completed this many steps
};
// "node3/gpu1 failed", "rack2 left"
std::string Describe(const ClusterEvent& event, const Cluster& cluster);

// Returns every problem of a list of events as "events[3]: ..."; nothing if it can happen: times
// and steps in order, rates in range, links that are down return, nothing fails twice without
// recovering, and nothing recovers or joins that works.
std::vector<std::string> FindErrors(std::span<const ClusterEvent> events, const Cluster& cluster);

}  // namespace stagecraft
