// The pass orders of a pipeline, made for any schedule by its name.
#pragma once

#include <string>
#include <vector>

#include "sim/pipeline/asynchronous.h"
#include "sim/pipeline/chimera.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/vocabulary_orders.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/pipeline/zero_bubble.h"

namespace stagecraft {

// What a schedule reads besides the shape of the pipeline; each reads only what its traits name.
struct PipelineScheduleOptions {
  WarmupPolicy warmup = WarmupPolicy::kA;  // of 1f1b with separate pipelines
  MicroBatchGroups groups;                 // of interleaved; size 0: as many as stages
  // 1f1b with separate pipelines and interleaved read this: each forward that is followed by a
  // backward runs beside it (Megatron-core's overlap_moe_expert_parallel_comm). Forwards run one
  // pass further ahead of backwards with interleaved, and about twice as far with 1f1b, which reads
  // no `warmup` then (PairedOneForwardOneBackwardOrder()). Pairs that a custom schedule lists hide
  // nothing but their exchanges.
  bool pairs_passes = false;
  ChimeraSlots slots = ChimeraSlots::kOnePass;  // of chimera
  // The most memory for saved activations, as a multiple of what the first of equal stages holds
  // with 1f1b. zb-auto and list read it; for list, 0 means no limit.
  double activation_limit = 1;
  ZeroBubbleSearch search = ZeroBubbleSearch::kThorough;  // of zb-auto
  WeightSync weight_sync = WeightSync::kStashing;         // of pipedream
  // Others than this one: of 1f1b and, except kInterlaced, of v-half and v-min.
  VocabularyPlacement vocabulary = VocabularyPlacement::kFirstLast;
};

// What passes cost and what a micro-batch holds, [stage][chunk].
struct PassOrderInputs {
  PipelineCosts costs;
  std::vector<std::vector<PassMemory>> memory;
};

// Returns why a schedule cannot run this many micro-batches, as a sentence; empty if it can.
std::string FindMicroBatchError(PipelineSchedule schedule, const ChunkMap& map, int micro_batches);

// Returns the pass orders for one replica of every stage. `inputs` may be null if
// !NeedsCosts(schedule). `schedule` must not be kCustom. Throws InputError if the activation limit
// is less than the schedule needs.
PassOrders MakePassOrders(PipelineSchedule schedule, const PipelineScheduleOptions& options,
                          const ChunkMap& map, int micro_batches, const PassOrderInputs* inputs);

// Whether a schedule can be combined with a placement of the vocabulary.
bool Supports(PipelineSchedule schedule, VocabularyPlacement placement);

// Returns the same pass orders and the exchanges among them for a schedule whose options split the
// vocabulary in a way that it supports.
VocabularyOrders MakeVocabularyOrders(PipelineSchedule schedule,
                                      const PipelineScheduleOptions& options, const ChunkMap& map,
                                      int micro_batches);

}  // namespace stagecraft
