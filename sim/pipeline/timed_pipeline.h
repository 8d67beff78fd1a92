// Pipelines with given costs as schedules: what closed forms, published bubble rates
// and benchmarks speak of.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Tasks and, by task, their durations.
struct TimedSchedule {
  Schedule schedule;
  std::vector<Duration> durations;
};

// One replica of every stage; orders by stage. A transfer of no time is no task: the
// next stage follows at once.
TimedSchedule BuildPipeline(const ChunkMap& map, std::span<const PassOrder> orders,
                            int micro_batches, const PipelineCosts& costs);

// The same for equal stages. The costs are those of one pass through one chunk.
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
