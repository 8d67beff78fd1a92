#include "sim/network/task_traffic.h"

#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

int32_t TaskTraffic::AddExchange(Exchange exchange) {
  CHECK(!exchange.parts.empty() || exchange.least > Duration());
  exchanges_.push_back(std::move(exchange));
  return static_cast<int32_t>(exchanges_.size()) - 1;
}

int32_t TaskTraffic::AddSequence(std::vector<int32_t> exchanges) {
  CHECK(!exchanges.empty());
  sequences_.push_back(std::move(exchanges));
  return static_cast<int32_t>(sequences_.size()) - 1;
}

void TaskTraffic::Bind(int32_t task, int32_t sequence) {
  if (task >= static_cast<int32_t>(bound_.size())) bound_.resize(task + 1);
  CHECK(bound_[task].sequence < 0);
  bound_[task].sequence = sequence;
}

void TaskTraffic::StartExchange(int32_t task, Duration time) {
  Bound& bound = bound_[task];
  const Exchange& exchange = exchanges_[sequences_[bound.sequence][bound.exchange]];
  bound.parts_left = static_cast<int32_t>(exchange.parts.size());
  for (const Exchange::Part& part : exchange.parts) {
    simulation_.Start(task, part.pattern, part.routes, time, part.limits);
  }
  if (exchange.least == Duration()) return;
  ++bound.parts_left;
  simulation_.StartTimer(task, time + exchange.least);
}

std::span<const int32_t> TaskTraffic::Advance(Duration limit) {
  ended_.clear();
  while (ended_.empty()) {
    const std::span<const int32_t> parts = simulation_.Advance(limit);
    if (parts.empty()) break;
    for (const int32_t task : parts) {
      Bound& bound = bound_[task];
      if (--bound.parts_left > 0) continue;
      if (++bound.exchange < std::ssize(sequences_[bound.sequence])) {
        StartExchange(task, now());
        continue;
      }
      --running_;
      ended_.push_back(task);
    }
  }
  return ended_;
}

}  // namespace stagecraft
