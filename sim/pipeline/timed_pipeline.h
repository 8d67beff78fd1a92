// Pipelines with given costs as schedules, for comparison with closed forms and published bubble
// rates, and for benchmarks.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// A schedule and the durations of its tasks.
struct TimedSchedule {
  Schedule schedule;
  std::vector<Duration> durations;
};

// Builds a pipeline with one replica of every stage; `orders` are by stage. A transfer that takes
// no time gets no task: the next stage can follow at once.
TimedSchedule BuildPipeline(const ChunkMap& map, std::span<const PassOrder> orders,
                            int micro_batches, const PipelineCosts& costs);

// A pipeline of equal stages. The times are those of one pass through one chunk, and of one
// transfer.
struct UniformPipeline {
  PassOrders orders;
  int chunks = 1;
  int micro_batches = 1;
  Duration forward;
  Duration backward;
  Duration transfer;
};
TimedSchedule BuildUniformPipeline(const UniformPipeline& pipeline);

}  // namespace stagecraft
