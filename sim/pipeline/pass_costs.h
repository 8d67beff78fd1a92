// What the passes of a pipeline cost: for schedules that depend on costs, and to time pass orders
// without the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// The times of one micro-batch in one chunk.
struct PassTimes {
  Duration forward;
  Duration backward_input;
  Duration backward_weight;

  Duration Backward() const { return backward_input + backward_weight; }
};

// The memory of a stage that a micro-batch holds, in any unit.
struct PassMemory {
  int64_t after_forward = 0;  // until its input gradients are done
  int64_t after_input = 0;    // from then until its weight gradients are done
};

struct PipelineCosts {
  // [stage][chunk]
  std::vector<std::vector<PassTimes>> times;
  // Element s is the time from stage s to stage s + 1 or back; the last element is between the last
  // stage and the first. Transfers slow down no computation. Between consecutive chunks on the same
  // stage there is no transfer.
  std::vector<Duration> transfers;
  // The time of passes that run beside each other, as a share of the sum of their times.
  double beside_share = 1;

  Duration Transfer(int from, int to) const;
  Duration Beside(Duration sum) const;
};

// Returns the costs of equal stages.
PipelineCosts UniformCosts(int stages, int chunks, const PassTimes& times, Duration transfer);

}  // namespace stagecraft
