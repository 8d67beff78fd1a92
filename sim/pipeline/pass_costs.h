// What the passes of a pipeline cost: for orders that depend on it, and to time
// orders without a schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// One micro-batch through one chunk.
struct PassTimes {
  Duration forward;
  Duration backward_input;
  Duration backward_weight;

  Duration Backward() const { return backward_input + backward_weight; }
};

// What a micro-batch holds of a stage's memory, in any unit.
struct PassMemory {
  int64_t after_forward = 0;  // until its input gradients are there
  int64_t after_input = 0;    // then, until its weight gradients are
};

struct PipelineCosts {
  // [stage][chunk]
  std::vector<std::vector<PassTimes>> times;
  // Between stage s and its neighbour s + 1, the last and the first, in either
  // direction; nobody computes less meanwhile. Chunks that follow one another on the
  // same stage wait for nothing.
  std::vector<Duration> transfers;
  // What passes beside each other take, of the sum of their times.
  double beside_share = 1;

  Duration Transfer(int from, int to) const;
  Duration Beside(Duration sum) const;
};

// Equal stages.
PipelineCosts UniformCosts(int stages, int chunks, const PassTimes& times, Duration transfer);

}  // namespace stagecraft
