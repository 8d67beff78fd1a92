#include "sim/network/task_traffic.h"

#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

int32_t TaskTraffic::AddExchange(Exchange exchange) {
  CHECK(!exchange.parts.empty());
  exchanges_.push_back(std::move(exchange));
  return static_cast<int32_t>(exchanges_.size()) - 1;
}

void TaskTraffic::Bind(int32_t task, int32_t exchange) {
  if (task >= static_cast<int32_t>(exchange_.size())) {
    exchange_.resize(task + 1, -1);
    parts_left_.resize(task + 1, 0);
  }
  CHECK(exchange_[task] < 0);
  exchange_[task] = exchange;
}

std::span<const int32_t> TaskTraffic::Advance(Duration limit) {
  ended_.clear();
  while (ended_.empty()) {
    const std::span<const int32_t> parts = simulation_.Advance(limit);
    if (parts.empty()) break;
    for (const int32_t task : parts) {
      if (--parts_left_[task] == 0) ended_.push_back(task);
    }
  }
  return ended_;
}

}  // namespace stagecraft
