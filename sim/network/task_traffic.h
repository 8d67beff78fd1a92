// TaskTraffic: what the tasks of a schedule send over shared links, for an engine that replays the
// schedule.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/network/flow_network.h"
#include "sim/network/flow_simulation.h"
#include "sim/network/message_pattern.h"

namespace stagecraft {

// Holds patterns that begin together. The exchange ends when the last of them has ended, and no
// earlier than `least` after its begin: what takes that long uses no links.
struct Exchange {
  struct Part {
    MessagePattern pattern;
    std::vector<RouteId> routes;  // by index of pattern.pairs()
    FlowLimits limits;
  };
  std::vector<Part> parts;
  Duration least;
};

// First describe the links, exchanges and tasks, then drive it: an engine starts tasks and is told
// when they end. Used by one thread, for one replay.
class TaskTraffic {
 public:
  TaskTraffic() : simulation_(&network_) {}
  TaskTraffic(const TaskTraffic&) = delete;

  FlowNetwork& network() { return network_; }
  int32_t AddExchange(Exchange exchange);
  // Adds exchanges, at least one, each of which begins when the one before it has ended.
  int32_t AddSequence(std::vector<int32_t> exchanges);
  // Tasks that are not bound send nothing. A task is bound at most once, to a sequence.
  void Bind(int32_t task, int32_t sequence);

  bool Has(int32_t task) const {
    return task < static_cast<int32_t>(bound_.size()) && bound_[task].sequence >= 0;
  }
  void Start(int32_t task, Duration time) {
    ++running_;
    StartExchange(task, time);
  }
  // Changes a capacity from `time` >= now() on.
  void ChangeCapacity(LinkId link, Bandwidth capacity, Duration time) {
    simulation_.ChangeCapacity(link, capacity, time);
  }
  // Returns whether any task is in flight; stalled ones count.
  bool running() const { return running_ > 0; }
  Duration now() const { return simulation_.now(); }
  // Runs to the first instant <= limit at which tasks end, and returns them; valid until the next
  // call. If there is none, now() is `limit` or, if that is Duration::Max(), nothing will ever end.
  std::span<const int32_t> Advance(Duration limit);

 private:
  struct Bound {
    int32_t sequence = -1;   // -1 for a task that sends nothing
    int32_t exchange = 0;    // that runs, by index into the sequence
    int32_t parts_left = 0;  // of that exchange
  };

  void StartExchange(int32_t task, Duration time);

  FlowNetwork network_;
  FlowSimulation simulation_;
  std::deque<Exchange> exchanges_;  // runs keep pointers into it
  std::vector<std::vector<int32_t>> sequences_;
  std::vector<Bound> bound_;  // by task
  std::vector<int32_t> ended_;
  int running_ = 0;
};

}  // namespace stagecraft
