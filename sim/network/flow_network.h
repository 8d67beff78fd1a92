// FlowNetwork: flows of bytes over shared links, in virtual time.
//
// A flow sends its bytes over every link of its route at once, at one rate. The rates of all flows
// in flight are max-min fair (equations in fair_shares.h). A flow holds no share until its latency
// has passed: the sum of its route's latencies and its own delay. Then its bytes flow, and it ends
// when the last of them has passed:
//   end = start + delay + sum of latencies + time to send `bytes` at its rates.
// Everything that happens at one instant is settled together, once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/network/event_queue.h"
#include "sim/network/fair_shares.h"

namespace stagecraft {

// What a link has carried so far.
struct LinkUse {
  double bytes = 0;
  Duration busy;  // while there is any flow on it, stalled ones included
  Duration full;  // while it has no capacity to spare
};

// Properties of a flow besides its route.
struct FlowLimits {
  Duration delay;  // before its bytes flow, in addition to the latencies
  Bandwidth cap{FairShares::kNoCap};
};

// An event costs O(links of the route) if flows are alone, and one FairShares::Settle() for each
// instant if they are not. Memory is about 100 bytes for each flow in flight and 120 for each link;
// nothing is allocated for a flow if one of its kind has ended before. Times are rounded to the
// nanosecond; bytes left are not.
class FlowNetwork {
 public:
  LinkId AddLink(Bandwidth capacity, Duration latency);
  // The links must be distinct and in order; there may be none.
  RouteId AddRoute(std::span<const LinkId> links);

  // Starts a flow now. `tag` is returned when it ends. `bytes` must be >= 0 and may be fractional,
  // as a rank's share of a collective is.
  void Start(RouteId route, double bytes, int64_t tag, const FlowLimits& limits = {});
  // Changes the capacity of a link from now on; 0 stalls its flows until it changes again.
  void SetCapacity(LinkId link, Bandwidth capacity);

  Duration now() const { return Duration::Nanoseconds(now_ns_); }
  // Returns the next time at which a flow ends or begins to send, or may do so: an upper bound for
  // the next AdvanceTo(). Duration::Max() if nothing will happen.
  Duration NextTime();
  // Precondition: now() <= time <= NextTime(). Returns the tags of the flows that end at `time`;
  // valid until the next call.
  std::span<const int64_t> AdvanceTo(Duration time);

  // Returns the use of a link up to now, including that by flows in flight.
  LinkUse Use(LinkId link);
  // Returns the bytes per second of the flows that send over the link, in no particular order.
  std::vector<double> Rates(LinkId link);
  int link_count() const { return shares_.link_count(); }

 private:
  static constexpr int64_t kNever = Duration::Max().ns();

  struct Flow {
    double bytes = 0;
    double left = 0;  // bytes still to be sent at seen_ns
    double rate = 0;  // bytes per nanosecond since seen_ns
    double cap = 0;
    int64_t tag = 0;
    int64_t seen_ns = 0;
    int64_t due_ns = kNever;     // when it begins to send, or ends at this rate
    int64_t queued_ns = kNever;  // the earliest event queued for this slot
    RouteId route = 0;
    bool is_sending = false;
  };
  struct LinkRecord {
    LinkUse use;  // bytes of flows that ended; times up to since_ns
    int64_t since_ns = 0;
    LinkState state = LinkState::kIdle;
  };

  void Settle();
  void Pop();
  void Begin(FlowId flow);
  void End(FlowId flow);
  void Release(FlowId flow);
  void Record(LinkId link);
  double SentBytes(const Flow& flow) const;
  void SetDue(FlowId id, int64_t due_ns);

  FairShares shares_;
  EventQueue events_;
  int64_t now_ns_ = 0;
  bool is_settled_ = true;
  std::vector<int64_t> latencies_ns_;        // by link
  std::vector<int64_t> route_latencies_ns_;  // by route
  std::vector<LinkRecord> records_;          // by link
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::vector<Event> batch_;
  std::vector<FlowId> beginning_;
  std::vector<int64_t> ended_;
};

}  // namespace stagecraft
