// What every order by name keeps, on random pipelines: each pass once and none stuck, no
// more in flight than documented, no faster than the lower bounds; and what zero-bubble
// orders promise beside 1F1B.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/make_orders.h"
#include "sim/pipeline/order.h"
#include "sim/pipeline/order_testing.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"

namespace stagecraft {
namespace {

constexpr int kTrials = 60;  // of each name

// Passes between a forward and its input gradients, as order.h and its neighbours say.
int MostInFlight(PipelineOrder order, int p, int v, int m) {
  switch (order) {
    case PipelineOrder::kOneForwardOneBackward:
    case PipelineOrder::kZeroBubbleH1:
    case PipelineOrder::kZeroBubbleAuto:
    case PipelineOrder::kChimera:
      return p;
    case PipelineOrder::kZeroBubbleH2:
      return 2 * p - 1;
    case PipelineOrder::kInterleaved:
      return std::min(2 * (p - 1) + (v - 1) * std::min(m, 2 * p - 1) + 1, v * m);
    case PipelineOrder::kZeroBubbleV:
      return 2 * p;
    case PipelineOrder::kVHalf:
      return 2 * (p / 2 + 1);
    case PipelineOrder::kVMin:
      return 2 * (p + 3) / 3;
    case PipelineOrder::kDualPipe:
      return p + 1;
    case PipelineOrder::kDualPipeV:
      return 2 * p + 1;
    case PipelineOrder::kList:
      return v * p;
    default:
      return v * m;
  }
}

OrderInputs InputsOf(const ChunkMap& map, PipelineCosts costs) {
  const std::vector<PassMemory> chunks(static_cast<size_t>(map.chunks()), PassMemory{2, 1});
  return {std::move(costs), std::vector(static_cast<size_t>(map.stages()), chunks)};
}

// Any number of chunks that it takes.
ChunkMap RandomMap(PipelineOrder order, Random& random) {
  const bool is_bidirectional = PlacementOf(order) == Placement::kBidirectional;
  const auto stages = static_cast<int>(random.Integer(1, 8)) * (is_bidirectional ? 2 : 1);
  int chunks = static_cast<int>(random.Integer(1, 4));
  if (!FindChunkError(order, PlacementOf(order), stages, chunks).empty()) {
    chunks = LeastChunks(order);
  }
  return {PlacementOf(order), stages, chunks};
}

TEST(OrdersPropertyTest, EveryNameKeepsItsPromisesOnAnyPipeline) {
  for (const PipelineOrder order : NamedOrders()) {
    int checked = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      SCOPED_TRACE(std::string(Name(order)) + " trial " + std::to_string(trial));
      Random random = Random(1).Child(Name(order), trial);
      const ChunkMap map = RandomMap(order, random);
      const auto m = static_cast<int>(random.Integer(1, 40));
      if (!FindMicroBatchError(order, map, m).empty()) continue;
      const OrderInputs inputs = InputsOf(map, RandomCosts(map, random));
      CheckOrders(map, MakeOrders(order, {}, map, m, &inputs), m, inputs.costs,
                  MostInFlight(order, map.stages(), map.chunks(), m));
      ++checked;
    }
    EXPECT_GE(checked, kTrials / 4) << Name(order);
  }
}

Duration LongestStage(PipelineOrder order, const ChunkMap& map, int m, const PipelineCosts& costs) {
  const OrderInputs inputs = InputsOf(map, costs);
  return TimeOrders(map, MakeOrders(order, {}, map, m, &inputs), m, costs).LongestStage();
}

// All hold what 1F1B's first stage does; ZB-V's stages are two halves.
TEST(OrdersPropertyTest, WithTheMemoryOf1F1BZeroBubbleIsNeverSlower) {
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Random random = Random(2).Child("equal memory", trial);
    const auto p = static_cast<int>(random.Integer(1, 8));
    const auto m = static_cast<int>(random.Integer(2 * p, 40));
    const ChunkMap map = ChunkMap::Looped(p, 1);
    const PipelineCosts unlike = RandomCosts(map, random);
    EXPECT_LE(LongestStage(PipelineOrder::kZeroBubbleAuto, map, m, unlike),
              LongestStage(PipelineOrder::kOneForwardOneBackward, map, m, unlike));
    // Orders that know no costs promise it of equal stages.
    const auto time = [&] { return Duration::Nanoseconds(2 * random.Integer(10, 20)); };
    const Duration forward = time();
    const Duration input = time();
    const PassTimes times = {forward, input, time()};
    const PipelineCosts equal = UniformCosts(p, 1, times, Duration());
    const Duration plain = LongestStage(PipelineOrder::kOneForwardOneBackward, map, m, equal);
    EXPECT_LE(LongestStage(PipelineOrder::kZeroBubbleH1, map, m, equal), plain);
    const PassTimes half = {Duration::Nanoseconds(times.forward.ns() / 2),
                            Duration::Nanoseconds(times.backward_input.ns() / 2),
                            Duration::Nanoseconds(times.backward_weight.ns() / 2)};
    EXPECT_LE(LongestStage(PipelineOrder::kZeroBubbleV, ChunkMap::Wave(p, 2), m,
                           UniformCosts(p, 2, half, Duration())),
              plain);
  }
}

}  // namespace
}  // namespace stagecraft
