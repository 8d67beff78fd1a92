// FlowSimulation: runs message patterns, each message as a flow, on one network.
//
// A driver (an engine with its own clock and dependencies) starts patterns and timers under ids of
// its own and is told when they end:
//
//   FlowSimulation simulation(&network);
//   simulation.Start(id, pattern, routes, time);
//   loop: for (id : simulation.Advance(limit)) ... at simulation.now()
//
// where `limit` is the driver's own next event. Advance() stops at the first instant at which
// something ends, so the driver can start what waited for it at that instant, before any later time
// is simulated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/network/event_queue.h"
#include "sim/network/flow_network.h"
#include "sim/network/index_runs.h"
#include "sim/network/message_pattern.h"

namespace stagecraft {

// A message costs O(its needs) and one flow. Memory: about 25 bytes for each sender and counter of
// each running pattern, reused when it ends. Not thread-safe.
class FlowSimulation {
 public:
  // The network must outlive the simulation, and only the simulation may drive it.
  explicit FlowSimulation(FlowNetwork* network) : network_(network) {}

  // Runs `pattern` from `time` >= now() on. routes[i] is the route of pattern.pairs()[i]. Pattern
  // and routes must stay alive until the run ends. `limits` hold for each message: a delay before
  // its bytes flow, and a cap on its rate. Ids are chosen by the caller and may repeat.
  void Start(int32_t id, const MessagePattern& pattern, std::span<const RouteId> routes,
             Duration time, const FlowLimits& limits = {});
  // Starts what ends at `time` >= now() by itself: a computation, a timeout.
  void StartTimer(int32_t id, Duration time);
  // Changes a capacity from `time` >= now() on, for faults, slow-downs and repairs.
  void ChangeCapacity(LinkId link, Bandwidth capacity, Duration time);

  Duration now() const { return network_->now(); }
  // Returns the next time at which anything happens inside; no later than the next end.
  // Duration::Max() if nothing will happen because everything has ended, or is stalled.
  Duration NextTime();
  // Runs to the first instant <= limit at which something ends, and returns the ids of what ended;
  // valid until the next call. If there is none, now() is `limit` or, if that is Duration::Max(),
  // the time at which anything last happened inside.
  std::span<const int32_t> Advance(Duration limit);

  int64_t messages_arrived() const { return messages_arrived_; }
  // Returns how many patterns were started and have not ended. If nothing will happen any more,
  // these are the stalled ones.
  int running() const { return running_; }

 private:
  static constexpr int32_t kNone = -1;
  static constexpr int32_t kNever = INT32_MAX;

  struct Run {
    const MessagePattern* pattern = nullptr;
    std::span<const RouteId> routes;
    FlowLimits limits;
    int64_t messages_left = 0;
    int32_t id = 0;
    int32_t senders = 0;   // index of the first in senders_
    int32_t counters = 0;  // index of the first in counters_
  };
  // A sender has a message in flight, or is among the waiters of one counter, or has no messages
  // left.
  struct Sender {
    int32_t next = 0;             // index of its next message
    int32_t next_waiter = kNone;  // the one behind it that waits for the same counter
  };
  struct Counter {
    int32_t count = 0;
    int32_t wake = kNever;  // the least count for which a waiter waits
    int32_t first_waiter = kNone;
  };
  // What may happen at a set time.
  enum class Cause : uint8_t { kPattern, kTimer, kCapacity };
  struct Timed {
    Cause cause = Cause::kTimer;
    int32_t subject = 0;  // run, id or link
    Bandwidth capacity;
  };

  void Schedule(const Timed& timed, Duration time);
  void Happen(const Timed& timed);
  void Begin(int32_t run);
  void End(int32_t run);
  void Arrive(int64_t tag);
  void SendNext(int32_t run, int32_t sender);
  // Returns whether the sender has to wait; if so, it is added to the waiters of that counter.
  bool MustWait(const Run& run, int32_t sender);
  void Wake(int32_t run, Counter* counter);

  FlowNetwork* network_;
  EventQueue events_;
  std::vector<Event> batch_;
  std::vector<Timed> timed_;
  std::vector<int32_t> free_timed_;
  std::vector<Run> runs_;
  std::vector<int32_t> free_runs_;
  IndexRuns sender_places_, counter_places_;
  std::vector<Sender> senders_;
  std::vector<Counter> counters_;
  std::vector<int32_t> ending_, ended_;
  int64_t messages_arrived_ = 0;
  int running_ = 0;
};

}  // namespace stagecraft
