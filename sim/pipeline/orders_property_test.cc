// What every schedule must fulfil on random pipelines: each pass runs once and none is stuck, no
// more passes are in flight than documented, and all is no faster than the lower bounds; and what
// zero-bubble schedules promise in comparison with 1F1B.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/order_testing.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {
namespace {

constexpr int kTrials = 60;  // of each schedule

// The most passes between a forward and its input gradients, as pass_order.h and the other headers
// say.
int MostInFlight(PipelineSchedule schedule, int p, int v, int m) {
  switch (schedule) {
    case PipelineSchedule::kOneForwardOneBackward:
    case PipelineSchedule::kZeroBubbleH1:
    case PipelineSchedule::kZeroBubbleAuto:
    case PipelineSchedule::kChimera:
      return p;
    case PipelineSchedule::kZeroBubbleH2:
      return 2 * p - 1;
    case PipelineSchedule::kInterleaved:
      return std::min(2 * (p - 1) + (v - 1) * std::min(m, 2 * p - 1) + 1, v * m);
    case PipelineSchedule::kZeroBubbleV:
      return 2 * p;
    case PipelineSchedule::kVHalf:
      return 2 * (p / 2 + 1);
    case PipelineSchedule::kVMin:
      return 2 * (p + 3) / 3;
    case PipelineSchedule::kDualPipe:
      return p + 1;
    case PipelineSchedule::kDualPipeV:
      return 2 * p + 1;
    case PipelineSchedule::kList:
      return v * p;
    default:
      return v * m;
  }
}

PassOrderInputs InputsOf(const ChunkMap& map, PipelineCosts costs) {
  const std::vector<PassMemory> chunks(static_cast<size_t>(map.chunks()), PassMemory{2, 1});
  return {std::move(costs), std::vector(static_cast<size_t>(map.stages()), chunks)};
}

// A pipeline with any number of chunks that the schedule takes.
ChunkMap RandomMap(PipelineSchedule schedule, Random& random) {
  const bool is_bidirectional = PlacementOf(schedule) == Placement::kBidirectional;
  const auto stages = static_cast<int>(random.Integer(1, 8)) * (is_bidirectional ? 2 : 1);
  int chunks = static_cast<int>(random.Integer(1, 4));
  if (!FindChunkError(schedule, PlacementOf(schedule), stages, chunks).empty()) {
    chunks = LeastChunks(schedule);
  }
  return {PlacementOf(schedule), stages, chunks};
}

TEST(OrdersPropertyTest, EveryNameKeepsItsPromisesOnAnyPipeline) {
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    int checked = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      SCOPED_TRACE(std::string(Name(schedule)) + " trial " + std::to_string(trial));
      Random random = Random(1).Child(Name(schedule), trial);
      const ChunkMap map = RandomMap(schedule, random);
      const auto m = static_cast<int>(random.Integer(1, 40));
      if (!FindMicroBatchError(schedule, map, m).empty()) continue;
      const PassOrderInputs inputs = InputsOf(map, RandomCosts(map, random));
      CheckOrders(map, MakePassOrders(schedule, {}, map, m, &inputs), m, inputs.costs,
                  MostInFlight(schedule, map.stages(), map.chunks(), m));
      ++checked;
    }
    EXPECT_GE(checked, kTrials / 4) << Name(schedule);
  }
}

Duration LongestStage(PipelineSchedule schedule, const ChunkMap& map, int m,
                      const PipelineCosts& costs) {
  const PassOrderInputs inputs = InputsOf(map, costs);
  return TimeOrders(map, MakePassOrders(schedule, {}, map, m, &inputs), m, costs).LongestStage();
}

// All hold as much as 1F1B's first stage; each chunk of ZB-V is half a stage.
TEST(OrdersPropertyTest, WithTheMemoryOf1F1BZeroBubbleIsNeverSlower) {
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Random random = Random(2).Child("equal memory", trial);
    const auto p = static_cast<int>(random.Integer(1, 8));
    const auto m = static_cast<int>(random.Integer(2 * p, 40));
    const ChunkMap map = ChunkMap::Looped(p, 1);
    const PipelineCosts unlike = RandomCosts(map, random);
    EXPECT_LE(LongestStage(PipelineSchedule::kZeroBubbleAuto, map, m, unlike),
              LongestStage(PipelineSchedule::kOneForwardOneBackward, map, m, unlike));
    // Schedules that do not read costs promise it only for equal stages.
    const auto time = [&] { return Duration::Nanoseconds(2 * random.Integer(10, 20)); };
    const Duration forward = time();
    const Duration input = time();
    const PassTimes times = {forward, input, time()};
    const PipelineCosts equal = UniformCosts(p, 1, times, Duration());
    const Duration plain = LongestStage(PipelineSchedule::kOneForwardOneBackward, map, m, equal);
    EXPECT_LE(LongestStage(PipelineSchedule::kZeroBubbleH1, map, m, equal), plain);
    const PassTimes half = {Duration::Nanoseconds(times.forward.ns() / 2),
                            Duration::Nanoseconds(times.backward_input.ns() / 2),
                            Duration::Nanoseconds(times.backward_weight.ns() / 2)};
    EXPECT_LE(LongestStage(PipelineSchedule::kZeroBubbleV, ChunkMap::Wave(p, 2), m,
                           UniformCosts(p, 2, half, Duration())),
              plain);
  }
}

}  // namespace
}  // namespace stagecraft
