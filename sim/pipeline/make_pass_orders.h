// The orders of a pipeline by name: every family behind one function.
#pragma once

#include <string>
#include <vector>

#include "sim/pipeline/asynchronous.h"
#include "sim/pipeline/chimera.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/zero_bubble.h"

namespace stagecraft {

// What an order takes besides its shape; others ignore it.
struct PipelineScheduleOptions {
  WarmupPolicy warmup = WarmupPolicy::kA;       // 1f1b with separate pipelines
  MicroBatchGroups groups;                      // interleaved; of size 0: as many as stages
  ChimeraSlots slots = ChimeraSlots::kOnePass;  // chimera
  // zb-auto: memory of saved activations over what the first of equal stages holds
  // with 1f1b; list: likewise, or 0 for no limit.
  double activation_limit = 1;
  ZeroBubbleSearch search = ZeroBubbleSearch::kThorough;  // zb-auto
  WeightSync weight_sync = WeightSync::kStashing;         // pipedream
};

// What passes cost and what a micro-batch holds, [stage][chunk].
struct PassOrderInputs {
  PipelineCosts costs;
  std::vector<std::vector<PassMemory>> memory;
};

// What is wrong with so many micro-batches, as a sentence; empty where they suit.
std::string FindMicroBatchError(PipelineSchedule schedule, const ChunkMap& map, int micro_batches);

// Of one replica of every stage. `inputs` may be null where !NeedsCosts(order). Not for
// kCustom. Throws InputError where the activation limit is less than it takes.
PassOrders MakePassOrders(PipelineSchedule schedule, const PipelineScheduleOptions& options,
                          const ChunkMap& map, int micro_batches, const PassOrderInputs* inputs);

}  // namespace stagecraft
