// What order_traits.h says of the orders, as functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/order_traits.h"

namespace stagecraft {

constexpr const OrderTraits& TraitsOf(PipelineOrder order) {
  return kOrderTraits[static_cast<int>(order)];
}

constexpr const char* Name(PipelineOrder order) { return TraitsOf(order).name; }
// All that go by their name alone, without the custom one.
std::vector<PipelineOrder> NamedOrders();
// One of these.
std::optional<PipelineOrder> FindPipelineOrder(std::string_view name);
// Its passes are spelled out, in a plan or a file.
constexpr bool IsCustom(PipelineOrder order) { return order == PipelineOrder::kCustom; }

constexpr Placement PlacementOf(PipelineOrder order) { return TraitsOf(order).placement; }
constexpr bool SplitsBackward(PipelineOrder order) { return TraitsOf(order).splits_backward; }
constexpr bool NeedsCosts(PipelineOrder order) { return TraitsOf(order).needs_costs; }
constexpr int LeastChunks(PipelineOrder order) { return TraitsOf(order).chunks.least; }
constexpr bool Reads(PipelineOrder order, OrderOption option) {
  return (TraitsOf(order).options & option) != 0;
}
constexpr bool IsAsynchronous(PipelineOrder order) {
  return TraitsOf(order).weight_change != WeightChange::kAfterFlush;
}
constexpr bool UpdatesEveryMiniBatch(PipelineOrder order) {
  return TraitsOf(order).weight_change == WeightChange::kEveryMiniBatch;
}

// 1F1B of several chunks a stage is interleaved 1F1B.
PipelineOrder ForChunks(PipelineOrder order, int chunks);
// What is wrong with so many stages and chunks of each, as a sentence; empty where
// they suit.
std::string FindChunkError(PipelineOrder order, Placement placement, int stages, int chunks);

}  // namespace stagecraft
