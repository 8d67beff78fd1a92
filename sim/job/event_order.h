// EventOrder: whether the events of a file can follow each other.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"

namespace stagecraft {

// Keeps what events have made of each part of a cluster: nothing fails twice without recovering in
// between, and nothing recovers or joins that works.
class EventOrder {
 public:
  // Both must outlive it.
  EventOrder(const Cluster& cluster, const Racks& racks) : cluster_(cluster), racks_(racks) {}

  // Takes the next event; a kLeave counts at once, whatever its notice. Returns what is wrong with
  // it after the events before it, as "node0 fails twice, want it to recover in between".
  std::optional<std::string> Take(const ClusterEvent& event);

  // Says whether a part is absent at the start. Otherwise it is if its first event is a kJoin.
  void Begin(const EventTarget& target, bool is_absent) { states_[target].is_absent = is_absent; }
  // Returns whether the part itself has failed and not recovered.
  bool HasFailed(const EventTarget& target) const;
  // Returns whether it has failed, or is a link at rate 0, and has not recovered.
  bool IsDown(const EventTarget& target) const;

 private:
  struct PartState {
    bool is_down = false;
    bool is_absent = false;
    double rate = 1;
  };

  std::optional<EventTarget> AbsentAround(const EventTarget& target) const;

  const Cluster& cluster_;
  const Racks& racks_;
  std::map<EventTarget, PartState> states_;
};

// Returns every problem of a list of events as "events[3]: ..."; nothing if it can happen: times
// and steps are in order, rates are in range, links that are down return, and the events of a part
// can follow each other in the order of the list. If those at a time and those at a step mix, a run
// can still take them in another order; it throws an InputError when that turns out to be
// impossible.
std::vector<std::string> FindErrors(std::span<const ClusterEvent> events, const Cluster& cluster,
                                    const Racks& racks);

}  // namespace stagecraft
