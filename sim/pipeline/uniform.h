// A pipeline of equal stages with given costs: what closed forms, published
// bubble rates and benchmarks speak of.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/order.h"
#include "sim/schedule.h"

namespace stagecraft {

// One order per stage. The costs are those of one pass through one chunk.
struct UniformPipeline {
  std::vector<PassOrder> orders;
  int chunks = 1;
  int micro_batches = 1;
  Duration forward;
  Duration backward;
  Duration transfer;  // zero: the next stage follows at once, with no task
};

// Tasks and, by task, their durations.
struct TimedSchedule {
  Schedule schedule;
  std::vector<Duration> durations;
};
TimedSchedule BuildUniformPipeline(const UniformPipeline& pipeline);

}  // namespace stagecraft
