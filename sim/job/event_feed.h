// EventFeed: all events of one history, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/job/cluster_event.h"
#include "sim/job/drawn_events.h"

namespace stagecraft {

// Merges the events of a file, events that are drawn, and departures that were announced.
class EventFeed {
 public:
  static constexpr int64_t kNoStep = INT64_MAX;

  // The events must outlive the feed.
  EventFeed(std::span<const ClusterEvent> events, DrawnEvents drawn);

  // Returns the parts that are absent at the start: their first event is kJoin.
  std::vector<EventTarget> Absent() const;

  Duration NextTime() const;     // Duration::Max(): none
  int64_t NextStep() const;      // of the next event at a step; kNoStep: none
  Duration NextLeaving() const;  // of the next announced departure; Duration::Max(): none
  // Take the next event by time, and by step. A kLeave with notice comes back without notice when
  // that has passed, after `now`.
  std::optional<ClusterEvent> PopTime();
  ClusterEvent PopStep(Duration now);

  void Replace(int node) { drawn_.Replace(node); }

 private:
  void Announce(const ClusterEvent& event, Duration now);
  Duration NextTimed() const;

  std::vector<const ClusterEvent*> timed_, by_step_;
  size_t timed_at_ = 0, step_at_ = 0;
  std::vector<ClusterEvent> leaving_;  // latest first
  DrawnEvents drawn_;
};

}  // namespace stagecraft
