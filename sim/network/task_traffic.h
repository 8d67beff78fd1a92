// TaskTraffic: what the tasks of a schedule send over shared links, for an engine
// that replays the schedule.
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

// Patterns that begin together. It ends when the last of them has.
struct Exchange {
  struct Part {
    MessagePattern pattern;
    std::vector<RouteId> routes;  // of pattern.pairs()
    FlowLimits limits;
  };
  std::vector<Part> parts;  // at least one
};

// First describe the links, exchanges and tasks, then drive it: an engine starts
// tasks and is told when they end. One thread, one replay.
class TaskTraffic {
 public:
  TaskTraffic() : simulation_(&network_) {}
  TaskTraffic(const TaskTraffic&) = delete;

  FlowNetwork& network() { return network_; }
  int32_t AddExchange(Exchange exchange);
  // Tasks not bound send nothing. A task is bound once.
  void Bind(int32_t task, int32_t exchange);

  bool Has(int32_t task) const {
    return task < static_cast<int32_t>(exchange_.size()) && exchange_[task] >= 0;
  }
  void Start(int32_t task, Duration time) {
    for (const Exchange::Part& part : exchanges_[exchange_[task]].parts) {
      ++parts_left_[task];
      simulation_.Start(task, part.pattern, part.routes, time, part.limits);
    }
  }
  // From `time` >= now() on.
  void ChangeCapacity(LinkId link, Bandwidth capacity, Duration time) {
    simulation_.ChangeCapacity(link, capacity, time);
  }
  // Whether a task is under way, stalled ones included.
  bool running() const { return simulation_.running() > 0; }
  Duration now() const { return simulation_.now(); }
  // Runs to the first instant <= limit at which tasks end, and returns them; good
  // until the next call. None: now() is `limit`, or, if that is Duration::Max(),
  // nothing will ever end.
  std::span<const int32_t> Advance(Duration limit);

 private:
  FlowNetwork network_;
  FlowSimulation simulation_;
  std::deque<Exchange> exchanges_;   // runs keep pointers into it
  std::vector<int32_t> exchange_;    // by task, -1 for none
  std::vector<int32_t> parts_left_;  // by task
  std::vector<int32_t> ended_;
};

}  // namespace stagecraft
