#include "sim/job/event_feed.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stagecraft {

EventFeed::EventFeed(std::span<const ClusterEvent> events, DrawnEvents drawn)
    : drawn_(std::move(drawn)) {
  for (const ClusterEvent& event : events) {
    (event.at_step < 0 ? timed_ : by_step_).push_back(&event);
  }
}

std::vector<EventTarget> EventFeed::Absent() const {
  // Events at a time and at a step are not ordered among each other: a part is absent if the first
  // of either kind is its arrival.
  std::set<EventTarget> seen;
  std::vector<EventTarget> absent;
  for (const auto* list : {&timed_, &by_step_}) {
    for (const ClusterEvent* event : *list) {
      if (seen.insert(event->target).second && event->what == ClusterEvent::What::kJoin) {
        absent.push_back(event->target);
      }
    }
  }
  return absent;
}

Duration EventFeed::NextTimed() const {
  return timed_at_ < timed_.size() ? timed_[timed_at_]->at : Duration::Max();
}

Duration EventFeed::NextLeaving() const {
  return leaving_.empty() ? Duration::Max() : leaving_.back().at;
}

Duration EventFeed::NextTime() const {
  return std::min({NextTimed(), NextLeaving(), drawn_.NextTime()});
}

int64_t EventFeed::NextStep() const {
  return step_at_ < by_step_.size() ? by_step_[step_at_]->at_step : kNoStep;
}

void EventFeed::Announce(const ClusterEvent& event, Duration now) {
  if (event.what != ClusterEvent::What::kLeave || event.notice <= Duration()) return;
  ClusterEvent leaving = event;
  leaving.at = now + event.notice;
  leaving.at_step = -1;
  leaving.notice = Duration();
  const auto place = std::find_if(leaving_.begin(), leaving_.end(), [&](const ClusterEvent& other) {
    return other.at <= leaving.at;
  });
  leaving_.insert(place, leaving);
}

std::optional<ClusterEvent> EventFeed::PopTime() {
  const Duration time = NextTime();
  if (NextTimed() == time) {
    const ClusterEvent& event = *timed_[timed_at_++];
    Announce(event, time);
    return event;
  }
  if (NextLeaving() == time) {
    const ClusterEvent event = leaving_.back();
    leaving_.pop_back();
    return event;
  }
  return drawn_.Pop();
}

ClusterEvent EventFeed::PopStep(Duration now) {
  const ClusterEvent& event = *by_step_[step_at_++];
  Announce(event, now);
  return event;
}

}  // namespace stagecraft
