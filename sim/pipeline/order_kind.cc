#include "sim/pipeline/order_kind.h"

#include <fmt/core.h>

#include <limits>

namespace stagecraft {
namespace {

struct Traits {
  const char* name;
  Placement placement;
  bool splits_backward;
  bool needs_costs;
  int least_chunks;
  int most_chunks;
};

constexpr int kAny = std::numeric_limits<int>::max();

// By PipelineOrder.
constexpr Traits kTraits[] = {
    {"gpipe", Placement::kLooped, false, false, 1, 1},
    {"1f1b", Placement::kLooped, false, false, 1, 1},
    {"interleaved", Placement::kLooped, false, false, 2, kAny},
    {"bfs", Placement::kLooped, false, false, 2, kAny},
    {"zb-h1", Placement::kLooped, true, false, 1, 1},
    {"zb-h2", Placement::kLooped, true, false, 1, 1},
    {"zb-auto", Placement::kLooped, true, true, 1, 1},
    {"zb-v", Placement::kWave, true, true, 2, 2},
    {"v-half", Placement::kWave, true, false, 2, 2},
    {"v-min", Placement::kWave, true, false, 2, 2},
    {"dualpipe", Placement::kBidirectional, true, false, 2, 2},
    {"dualpipe-v", Placement::kWave, true, false, 2, 2},
    {"chimera", Placement::kBidirectional, false, false, 2, kAny},
    {"list", Placement::kLooped, true, true, 1, kAny},
    {"custom", Placement::kLooped, true, false, 1, kAny},
    {"pipedream", Placement::kLooped, false, false, 1, 1},
    {"pipedream-2bw", Placement::kLooped, false, false, 1, 1},
};
static_assert(sizeof(kTraits) / sizeof(kTraits[0]) == kPipelineOrderCount);

const Traits& Of(PipelineOrder order) { return kTraits[static_cast<int>(order)]; }

}  // namespace

const char* Name(PipelineOrder order) { return Of(order).name; }

std::optional<PipelineOrder> FindPipelineOrder(std::string_view name) {
  for (int order = 0; order < kPipelineOrderCount; ++order) {
    if (name == kTraits[order].name) return static_cast<PipelineOrder>(order);
  }
  return std::nullopt;
}

Placement PlacementOf(PipelineOrder order) { return Of(order).placement; }
bool SplitsBackward(PipelineOrder order) { return Of(order).splits_backward; }
bool IsAsynchronous(PipelineOrder order) {
  return order == PipelineOrder::kPipeDream || order == PipelineOrder::kPipeDream2bw;
}
bool NeedsCosts(PipelineOrder order) { return Of(order).needs_costs; }
int LeastChunks(PipelineOrder order) { return Of(order).least_chunks; }

std::string FindChunkError(PipelineOrder order, Placement placement, int stages, int chunks) {
  const Traits& traits = Of(order);
  if (chunks < traits.least_chunks || chunks > traits.most_chunks) {
    const bool is_fixed = traits.least_chunks == traits.most_chunks;
    return fmt::format("order: {} with {} chunk{} per stage, want {}{}", traits.name, chunks,
                       chunks == 1 ? "" : "s", is_fixed ? "" : "at least ", traits.least_chunks);
  }
  if (placement == Placement::kBidirectional && (chunks % 2 != 0 || stages % chunks != 0)) {
    return fmt::format(
        "order: {} with {} stages and {} chunks of each, want an even number of chunks that "
        "divides the stages",
        traits.name, stages, chunks);
  }
  return "";
}

}  // namespace stagecraft
