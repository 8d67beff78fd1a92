// StopSign: tells a solver to end before it is done.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>

#include "search/solution.h"

namespace stagecraft {

// Stopped is thrown by solvers that are stopped before they have anything to return.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped before there was an answer"; }
};

// StopSign is up once a budget's stop is set or its seconds, counted from the construction, are
// used up; its evaluations do not count. Solvers look at it from one thread, often enough to end
// soon (docs/partition-methods.md).
class StopSign {
 public:
  StopSign() = default;  // never up
  explicit StopSign(const Budget& budget) : stop_(budget.stop) {
    if (budget.seconds > 0) {
      end_ = Clock::now() + std::chrono::duration<double>(budget.seconds);
    }
  }
  // Returns a sign that is up after this number of looks, so that what a solver does is the same
  // every time.
  static StopSign AfterLooks(int64_t looks) {
    StopSign sign;
    sign.looks_left_ = looks;
    return sign;
  }

  bool IsUp() const {
    const bool is_up = (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) ||
                       (end_ && Clock::now() >= *end_) || looks_left_ == 0;
    if (looks_left_ > 0) --looks_left_;
    was_obeyed_ |= is_up;
    return is_up;
  }
  void Check() const {
    if (IsUp()) throw Stopped();
  }
  // Returns whether a solver found it up, and so ended early.
  bool was_obeyed() const { return was_obeyed_; }

 private:
  using Clock = std::chrono::steady_clock;

  const std::atomic<bool>* stop_ = nullptr;
  std::optional<std::chrono::time_point<Clock, std::chrono::duration<double>>> end_;
  mutable int64_t looks_left_ = -1;  // negative: looks are not counted
  mutable bool was_obeyed_ = false;
};

}  // namespace stagecraft
