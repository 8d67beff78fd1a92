#include "sim/job/event_feed.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

using What = ClusterEvent::What;

EventFeed::EventFeed(std::span<const ClusterEvent> events, const Cluster& cluster,
                     const Racks& racks, DrawnEvents drawn)
    : events_(events), order_(cluster, racks), drawn_(std::move(drawn)) {
  for (const ClusterEvent& event : events) {
    (event.at_step < 0 ? timed_ : by_step_).push_back(&event);
  }
  for (const ClusterEvent& event : events) order_.Begin(event.target, /*is_absent=*/false);
  for (const EventTarget& target : Absent()) order_.Begin(target, /*is_absent=*/true);
}

std::vector<EventTarget> EventFeed::Absent() const {
  std::set<EventTarget> seen;
  std::vector<EventTarget> absent;
  for (const ClusterEvent& event : events_) {
    if (seen.insert(event.target).second && event.what == What::kJoin) {
      absent.push_back(event.target);
    }
  }
  return absent;
}

Duration EventFeed::NextTimed() const {
  return timed_at_ < timed_.size() ? timed_[timed_at_]->at : Duration::Max();
}

Duration EventFeed::NextLeaving(const ClusterHealth& health) const {
  for (size_t i = leaving_.size(); i-- > 0;) {
    if (health.HasWorkingDevice(leaving_[i].event->target)) return leaving_[i].at;
  }
  return Duration::Max();
}

Duration EventFeed::NextTime() const {
  const Duration leaving = leaving_.empty() ? Duration::Max() : leaving_.back().at;
  return std::min({NextTimed(), leaving, drawn_.NextTime()});
}

int64_t EventFeed::NextStep() const {
  return step_at_ < by_step_.size() ? by_step_[step_at_]->at_step : kNoStep;
}

// Announces a departure; anything else happens at once.
ClusterEvent EventFeed::Take(const ClusterEvent& event, Duration now) {
  if (event.what != What::kLeave || event.notice <= Duration()) return Happen(event, event, now);
  const Departure departure{now + event.notice, &event};
  const auto place = std::find_if(leaving_.begin(), leaving_.end(),
                                  [&](const Departure& other) { return other.at <= departure.at; });
  leaving_.insert(place, departure);
  return event;
}

ClusterEvent EventFeed::Happen(const ClusterEvent& listed, ClusterEvent event, Duration now) {
  const bool ends_slowness = event.what == What::kRecover && !order_.HasFailed(event.target);
  if (const auto error = order_.Take(event)) {
    throw InputError(fmt::format("events[{}], {} s after the start of the run: {}",
                                 &listed - events_.data(), now.seconds(), *error));
  }
  if (ends_slowness) {
    event.what = What::kSlow;
    event.rate = 1;
  }
  return event;
}

std::optional<ClusterEvent> EventFeed::PopTime() {
  const Duration time = NextTime();
  CHECK(time < Duration::Max());
  // What leaves and comes back at the same moment has left first.
  if (!leaving_.empty() && leaving_.back().at == time) {
    const ClusterEvent& listed = *leaving_.back().event;
    leaving_.pop_back();
    ClusterEvent event = listed;
    event.at = time;
    event.at_step = -1;
    event.notice = Duration();
    return Happen(listed, event, time);
  }
  if (NextTimed() == time) return Take(*timed_[timed_at_++], time);
  return drawn_.Pop();
}

ClusterEvent EventFeed::PopStep(Duration now) { return Take(*by_step_[step_at_++], now); }

}  // namespace stagecraft
