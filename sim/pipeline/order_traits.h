// PipelineOrder: the orders that a plan can ask for by name, and all that distinguishes each from
// the others. Whoever treats orders differently asks for a trait here and compares no name.
#pragma once

#include <limits>

#include "sim/pipeline/chunk_map.h"

namespace stagecraft {

// PlanProto.Order of proto/plan.proto has the same names in the same order.
enum class PipelineOrder {
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
  kCustom,  // its passes are spelled out
  kPipeDream,
  kPipeDream2bw
};

// What a stage runs where stages have unlike numbers of replicas.
enum class UnequalReplicas { kRefused, kForwardsFirst, kOneForwardOneBackward };

// When weights change. All but the first never flush: a plan is judged by its steady state
// (asynchronous.h).
enum class WeightChange { kAfterFlush, kEveryMiniBatch, kEveryBatch };

// What an order reads of OrderOptions (make_orders.h), as bits.
enum OrderOption : unsigned {
  kReadsNothing = 0,
  kReadsWarmup = 1,
  kReadsGroups = 2,
  kReadsSlots = 4,
  kReadsActivationLimit = 8,
  kReadsNoActivationLimit = 16,  // a limit of 0 means none
  kReadsSearch = 32,
  kReadsWeightSync = 64
};

inline constexpr int kAnyChunks = std::numeric_limits<int>::max();
struct ChunkCount {
  int least = 1;
  int most = 1;
};

struct OrderTraits {
  PipelineOrder order;
  const char* name;
  Placement placement = Placement::kLooped;  // of its chunks; a custom order may have any
  ChunkCount chunks = {};                    // of a stage
  bool splits_backward = false;              // runs input and weight gradients apart
  bool needs_costs = false;                  // depends on what passes cost
  bool pairs_passes = false;  // runs passes beside each other, which hides their collectives
  UnequalReplicas unequal_replicas = UnequalReplicas::kRefused;
  WeightChange weight_change = WeightChange::kAfterFlush;
  unsigned options = kReadsNothing;
};

// By PipelineOrder.
inline constexpr OrderTraits kOrderTraits[] = {
    {.order = PipelineOrder::kGpipe,
     .name = "gpipe",
     .unequal_replicas = UnequalReplicas::kForwardsFirst},
    {.order = PipelineOrder::kOneForwardOneBackward,
     .name = "1f1b",
     .unequal_replicas = UnequalReplicas::kOneForwardOneBackward,
     .options = kReadsWarmup},
    {.order = PipelineOrder::kInterleaved,
     .name = "interleaved",
     .chunks = {2, kAnyChunks},
     .options = kReadsGroups},
    {.order = PipelineOrder::kBreadthFirst, .name = "bfs", .chunks = {2, kAnyChunks}},
    {.order = PipelineOrder::kZeroBubbleH1, .name = "zb-h1", .splits_backward = true},
    {.order = PipelineOrder::kZeroBubbleH2, .name = "zb-h2", .splits_backward = true},
    {.order = PipelineOrder::kZeroBubbleAuto,
     .name = "zb-auto",
     .splits_backward = true,
     .needs_costs = true,
     .options = kReadsActivationLimit | kReadsSearch},
    {.order = PipelineOrder::kZeroBubbleV,
     .name = "zb-v",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true,
     .needs_costs = true},
    {.order = PipelineOrder::kVHalf,
     .name = "v-half",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true},
    {.order = PipelineOrder::kVMin,
     .name = "v-min",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true},
    {.order = PipelineOrder::kDualPipe,
     .name = "dualpipe",
     .placement = Placement::kBidirectional,
     .chunks = {2, 2},
     .splits_backward = true,
     .pairs_passes = true},
    {.order = PipelineOrder::kDualPipeV,
     .name = "dualpipe-v",
     .placement = Placement::kWave,
     .chunks = {2, 2},
     .splits_backward = true,
     .pairs_passes = true},
    {.order = PipelineOrder::kChimera,
     .name = "chimera",
     .placement = Placement::kBidirectional,
     .chunks = {2, kAnyChunks},
     .options = kReadsSlots},
    {.order = PipelineOrder::kList,
     .name = "list",
     .chunks = {1, kAnyChunks},
     .splits_backward = true,
     .needs_costs = true,
     .options = kReadsActivationLimit | kReadsNoActivationLimit},
    {.order = PipelineOrder::kCustom,
     .name = "custom",
     .chunks = {1, kAnyChunks},
     .splits_backward = true},
    {.order = PipelineOrder::kPipeDream,
     .name = "pipedream",
     .unequal_replicas = UnequalReplicas::kOneForwardOneBackward,
     .weight_change = WeightChange::kEveryMiniBatch,
     .options = kReadsWeightSync},
    {.order = PipelineOrder::kPipeDream2bw,
     .name = "pipedream-2bw",
     .weight_change = WeightChange::kEveryBatch},
};

}  // namespace stagecraft
