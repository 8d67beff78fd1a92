// FlowSimulation: runs message patterns, each message a flow, on one network.
//
// Whoever drives it (an engine with its own clock and dependencies) starts
// patterns and timers under ids of its own and is told when they end:
//
//   FlowSimulation simulation(&network);
//   simulation.Start(id, pattern, routes, time);
//   loop: for (id : simulation.Advance(limit)) ... at simulation.now()
//
// where `limit` is the driver's own next event. Advance() stops at the first
// instant that ends something, so the driver can start what waited for it at
// that instant, before any later time is simulated.
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

// A message costs O(its needs) and one flow. Memory: about 25 bytes a sender
// and counter of each running pattern, reused when it ends. One thread.
class FlowSimulation {
 public:
  // The network must outlive the simulation, and only the simulation drives it.
  explicit FlowSimulation(FlowNetwork* network) : network_(network) {}

  // Runs `pattern` from `time` >= now() on. routes[i] is that of
  // pattern.pairs()[i]. Pattern and routes stay alive until the run ends.
  // `limits` hold for each message: a delay before its bytes flow, and a cap on
  // its rate. Ids are the caller's and may repeat.
  void Start(int32_t id, const MessagePattern& pattern, std::span<const RouteId> routes,
             Duration time, const FlowLimits& limits = {});
  // Ends at `time` >= now(): a computation, a timeout.
  void StartTimer(int32_t id, Duration time);
  // From `time` >= now() on: faults, slow-downs, repairs.
  void ChangeCapacity(LinkId link, Bandwidth capacity, Duration time);

  Duration now() const { return network_->now(); }
  // No later than the next end: when next anything happens inside.
  // Duration::Max() where nothing will: all has ended, or is stalled.
  Duration NextTime();
  // Runs to the first instant <= limit at which something ends, and returns its
  // ids; good until the next call. None: now() is `limit`, or, if that is
  // Duration::Max(), when last anything happened inside.
  std::span<const int32_t> Advance(Duration limit);

  int64_t messages_arrived() const { return messages_arrived_; }
  // Patterns started and not ended: where nothing will happen, the stalled ones.
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
    int32_t senders = 0;   // first in senders_
    int32_t counters = 0;  // first in counters_
  };
  // A sender has a message under way, or is among the waiters of one counter,
  // or has none left.
  struct Sender {
    int32_t next = 0;             // message
    int32_t next_waiter = kNone;  // behind it at the same counter
  };
  struct Counter {
    int32_t count = 0;
    int32_t wake = kNever;  // the least count a waiter wants
    int32_t first_waiter = kNone;
  };
  // What happens at a set time.
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
  // The sender waits and is entered with the counter it waits for.
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
