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

// Patterns that begin together. The exchange ends when the last of them has ended.
struct Exchange {
  struct Part {
    MessagePattern pattern;
    std::vector<RouteId> routes;  // by index of pattern.pairs()
    FlowLimits limits;
  };
  std::vector<Part> parts;  // at least one
};

// First describe the links, exchanges and tasks, then drive it: an engine starts tasks and is told
// when they end. Used by one thread, for one replay.
class TaskTraffic {
 public:
  TaskTraffic() : simulation_(&network_) {}
  TaskTraffic(const TaskTraffic&) = delete;

  FlowNetwork& network() { return network_; }
  int32_t AddExchange(Exchange exchange);
  // Tasks that are not bound send nothing. A task is bound at most once.
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
  // Changes a capacity from `time` >= now() on.
  void ChangeCapacity(LinkId link, Bandwidth capacity, Duration time) {
    simulation_.ChangeCapacity(link, capacity, time);
  }
  // Whether any task is in flight; stalled ones count.
  bool running() const { return simulation_.running() > 0; }
  Duration now() const { return simulation_.now(); }
  // Runs to the first instant <= limit at which tasks end, and returns them; valid until the next
  // call. If there is none, now() is `limit` or, if that is Duration::Max(), nothing will ever end.
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
