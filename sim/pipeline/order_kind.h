// PipelineOrder: the orders that a plan can ask for by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/pipeline/chunk_map.h"

namespace stagecraft {

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
  kCustom,
  kPipeDream,
  kPipeDream2bw
};
inline constexpr int kPipelineOrderCount = 17;
const char* Name(PipelineOrder order);
std::optional<PipelineOrder> FindPipelineOrder(std::string_view name);

// Where its chunks stand; a custom order may have any placement.
Placement PlacementOf(PipelineOrder order);
// Runs input and weight gradients apart.
bool SplitsBackward(PipelineOrder order);
// Never flushes: a plan is judged by its steady state (asynchronous.h).
bool IsAsynchronous(PipelineOrder order);
// Depends on what passes cost.
bool NeedsCosts(PipelineOrder order);
// Chunks of a stage it takes at least.
int LeastChunks(PipelineOrder order);
// What is wrong with so many stages and chunks of each, as a sentence; empty where
// they suit.
std::string FindChunkError(PipelineOrder order, Placement placement, int stages, int chunks);

}  // namespace stagecraft
