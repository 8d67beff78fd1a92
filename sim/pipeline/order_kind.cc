#include "sim/pipeline/order_kind.h"

#include <fmt/core.h>

namespace stagecraft {
namespace {

constexpr bool RowsFollowTheEnum() {
  int row = 0;
  for (const OrderTraits& traits : kOrderTraits) {
    if (static_cast<int>(traits.order) != row++) return false;
  }
  return true;
}
static_assert(RowsFollowTheEnum());

}  // namespace

std::vector<PipelineOrder> NamedOrders() {
  std::vector<PipelineOrder> orders;
  for (const OrderTraits& traits : kOrderTraits) {
    if (!IsCustom(traits.order)) orders.push_back(traits.order);
  }
  return orders;
}

std::optional<PipelineOrder> FindPipelineOrder(std::string_view name) {
  for (const PipelineOrder order : NamedOrders()) {
    if (name == Name(order)) return order;
  }
  return std::nullopt;
}

PipelineOrder ForChunks(PipelineOrder order, int chunks) {
  const bool is_interleaved = order == PipelineOrder::kOneForwardOneBackward && chunks > 1;
  return is_interleaved ? PipelineOrder::kInterleaved : order;
}

std::string FindChunkError(PipelineOrder order, Placement placement, int stages, int chunks) {
  const auto [least, most] = TraitsOf(order).chunks;
  if (chunks < least || chunks > most) {
    return fmt::format("order: {} with {} chunk{} per stage, want {}{}", Name(order), chunks,
                       chunks == 1 ? "" : "s", least == most ? "" : "at least ", least);
  }
  if (placement == Placement::kBidirectional && (chunks % 2 != 0 || stages % chunks != 0)) {
    return fmt::format(
        "order: {} with {} stages and {} chunks of each, want an even number of chunks that "
        "divides the stages",
        Name(order), stages, chunks);
  }
  return "";
}

}  // namespace stagecraft
