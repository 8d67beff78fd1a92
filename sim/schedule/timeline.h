// Timeline: when every task of a schedule started and ended.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class Timeline {
 public:
  Timeline() = default;
  // Both are indexed by task; end >= start.
  Timeline(std::vector<Duration> start, std::vector<Duration> end);

  int task_count() const { return static_cast<int>(start_.size()); }
  Duration start(TaskId task) const { return start_[task]; }
  Duration end(TaskId task) const { return end_[task]; }
  // The end of the last task; zero for an empty schedule.
  Duration makespan() const { return makespan_; }
  // A hash over all starts and ends: equal timelines have equal fingerprints, with every compiler
  // and thread count.
  uint64_t Fingerprint() const;

 private:
  std::vector<Duration> start_, end_;
  Duration makespan_;
};

}  // namespace stagecraft
