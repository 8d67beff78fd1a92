// EventFeed: all events of one history, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"
#include "sim/job/cluster_health.h"
#include "sim/job/drawn_events.h"
#include "sim/job/event_order.h"

namespace stagecraft {

// Merges the events of a file, events that are drawn, and departures that were announced.
class EventFeed {
 public:
  static constexpr int64_t kNoStep = INT64_MAX;

  // The events, the cluster and the racks must outlive the feed.
  EventFeed(std::span<const ClusterEvent> events, const Cluster& cluster, const Racks& racks,
            DrawnEvents drawn);

  // Returns the parts that are absent at the start: their first event is kJoin.
  std::vector<EventTarget> Absent() const;

  // Returns when the next event happens; Duration::Max() if there is none.
  Duration NextTime() const;
  // Returns the step of the next event at a step; kNoStep if there is none.
  int64_t NextStep() const;
  // Returns when the next announced departure takes a device that works; Duration::Max() if none
  // does.
  Duration NextLeaving(const ClusterHealth& health) const;
  // Take the next event by time, and by step. A kLeave with notice comes back without notice when
  // that has passed, after `now`. A kRecover of a part of the file that was only slow comes as a
  // kSlow at full speed, so that it ends no failure that was drawn. Throw InputError if events of
  // the file turn out to be in an order in which they cannot happen.
  std::optional<ClusterEvent> PopTime();
  ClusterEvent PopStep(Duration now);

  // Another node has taken the place of `node`, and can fail as well.
  void Replace(int node) { drawn_.Replace(node); }

 private:
  struct Departure {
    Duration at;
    const ClusterEvent* event = nullptr;
  };

  ClusterEvent Take(const ClusterEvent& event, Duration now);
  ClusterEvent Happen(const ClusterEvent& listed, ClusterEvent event, Duration now);
  Duration NextTimed() const;

  std::span<const ClusterEvent> events_;
  std::vector<const ClusterEvent*> timed_, by_step_;
  size_t timed_at_ = 0, step_at_ = 0;
  std::vector<Departure> leaving_;  // The latest departure is the first.
  EventOrder order_;
  DrawnEvents drawn_;
};

}  // namespace stagecraft
