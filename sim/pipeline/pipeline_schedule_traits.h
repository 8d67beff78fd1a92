// PipelineSchedule: the pipeline schedules that a plan can name, and all that distinguishes them
// from one another. Code that treats schedules differently asks for a trait here and never compares
// names.
#pragma once

#include <limits>

#include "sim/pipeline/chunk_map.h"

namespace stagecraft {

// PlanProto.Order of proto/plan.proto has the same names in the same order.
enum class PipelineSchedule {
  kGpipe,
  kOneForwardOneBackward,
  kInterleaved,
  kBreadthFirst,
  kZeroBubbleH1,
  kZeroBubbleH2,
  kZeroBubbleAuto,
  kZeroBubbleV,
  kVHalf,
  kVMin,
  kDualPipe,
  kDualPipeV,
  kChimera,
  kList,
  kCustom,  // a plan or a file lists its passes
  kPipeDream,
  kPipeDream2bw
};

// What a stage runs if stages have different numbers of replicas.
enum class UnequalReplicas { kRefused, kForwardsFirst, kOneForwardOneBackward };

// When weights change. Schedules with the last two never flush, and a plan with them is judged by
// its steady state (asynchronous.h).
enum class WeightChange { kAfterFlush, kEveryMiniBatch, kEveryBatch };

// The members of PipelineScheduleOptions (make_pass_orders.h) that a schedule reads, as bits.
enum PipelineScheduleOption : unsigned {
  kReadsNothing = 0,
  kReadsWarmup = 1,
  kReadsGroups = 2,
  kReadsSlots = 4,
  kReadsActivationLimit = 8,
  kReadsNoActivationLimit = 16,  // a limit of 0 means none
  kReadsSearch = 32,
  kReadsWeightSync = 64,
  kReadsVocabulary = 128,
  kReadsInterlaced = 256,  // VocabularyPlacement::kInterlaced, too
  kReadsPairing = 512
};

inline constexpr int kAnyChunks = std::numeric_limits<int>::max();
struct ChunkCount {
  int least = 1;
  int most = 1;
};

struct PipelineScheduleTraits {
  PipelineSchedule schedule;
  const char* name;
  Placement placement = Placement::kLooped;  // of its chunks; a custom schedule may have any
  ChunkCount chunks = {};                    // of a stage
  bool splits_backward = false;              // runs input and weight gradients as separate passes
  bool needs_costs = false;                  // depends on the costs of passes
  bool pairs_passes = false;  // runs passes beside each other, which hides their collectives
  UnequalReplicas unequal_replicas = UnequalReplicas::kRefused;
  WeightChange weight_change = WeightChange::kAfterFlush;
  unsigned options = kReadsNothing;
};

// One row for each PipelineSchedule, in the order of the enum.
inline constexpr PipelineScheduleTraits kPipelineScheduleTraits[] = {
    {.schedule = PipelineSchedule::kGpipe,
     .name = "gpipe",
     .unequal_replicas = UnequalReplicas::kForwardsFirst},
    {.schedule = PipelineSchedule::kOneForwardOneBackward,
     .name = "1f1b",
     .unequal_replicas = UnequalReplicas::kOneForwardOneBackward,
     .options = kReadsWarmup | kReadsVocabulary | kReadsInterlaced | kReadsPairing},
    {.schedule = PipelineSchedule::kInterleaved,
     .name = "interleaved",
     .chunks = {2, kAnyChunks},
     .options = kReadsGroups | kReadsPairing},
    {.schedule = PipelineSchedule::kBreadthFirst, .name = "bfs", .chunks = {2, kAnyChunks}},
    {.schedule = PipelineSchedule::kZeroBubbleH1, .name = "zb-h1", .splits_backward = true},
    {.schedule = PipelineSchedule::kZeroBubbleH2, .name = "zb-h2", .splits_backward = true},
    {.schedule = PipelineSchedule::kZeroBubbleAuto,
     .name = "zb-auto",
     .splits_backward = true,
     .needs_costs = true,
     .options = kReadsActivationLimit | kReadsSearch},
    {.schedule = PipelineSchedule::kZeroBubbleV,
     .name = "zb-v",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true,
     .needs_costs = true},
    {.schedule = PipelineSchedule::kVHalf,
     .name = "v-half",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true,
     .options = kReadsVocabulary},
    {.schedule = PipelineSchedule::kVMin,
     .name = "v-min",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true,
     .options = kReadsVocabulary},
    {.schedule = PipelineSchedule::kDualPipe,
     .name = "dualpipe",
     .placement = Placement::kBidirectional,
     .chunks = {2, 2},
     .splits_backward = true,
     .pairs_passes = true},
    {.schedule = PipelineSchedule::kDualPipeV,
     .name = "dualpipe-v",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true,
     .pairs_passes = true},
    {.schedule = PipelineSchedule::kChimera,
     .name = "chimera",
     .placement = Placement::kBidirectional,
     .chunks = {2, kAnyChunks},
     .options = kReadsSlots},
    {.schedule = PipelineSchedule::kList,
     .name = "list",
     .chunks = {1, kAnyChunks},
     .splits_backward = true,
     .needs_costs = true,
     .options = kReadsActivationLimit | kReadsNoActivationLimit},
    {.schedule = PipelineSchedule::kCustom,
     .name = "custom",
     .chunks = {1, kAnyChunks},
     .splits_backward = true,
     .options = kReadsPairing},
    {.schedule = PipelineSchedule::kPipeDream,
     .name = "pipedream",
     .unequal_replicas = UnequalReplicas::kOneForwardOneBackward,
     .weight_change = WeightChange::kEveryMiniBatch,
     .options = kReadsWeightSync},
    {.schedule = PipelineSchedule::kPipeDream2bw,
     .name = "pipedream-2bw",
     .weight_change = WeightChange::kEveryBatch},
};

}  // namespace stagecraft
