#include "sim/pipeline/make_orders.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "sim/engine/engine.h"
#include "sim/pipeline/order_errors.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/timed_pipeline.h"

namespace stagecraft {
namespace {

OrderInputs RandomInputs(const ChunkMap& map, Random& random) {
  OrderInputs inputs;
  const auto time = [&] { return random.Integer(1, 20) * 1_us; };
  for (int stage = 0; stage < map.stages(); ++stage) {
    inputs.costs.transfers.push_back(random.Integer(0, 3) * 1_us);
    inputs.costs.times.emplace_back();
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      inputs.costs.times.back().push_back({time(), time(), time()});
    }
    inputs.memory.emplace_back(map.chunks(), PassMemory{2, 1});
  }
  return inputs;
}

TEST(MakeOrdersTest, EveryNameIsFoundAgain) {
  for (const PipelineOrder order : NamedOrders()) EXPECT_EQ(FindPipelineOrder(Name(order)), order);
  EXPECT_FALSE(FindPipelineOrder("zb"));
}

// The engine replays what TimeOrders() computes, whatever the costs, but that messages
// which go the same way from both of a stage's chunks share a link; and nothing of any order is
// missing, repeated or stuck.
TEST(MakeOrdersTest, EveryOrderRunsAndTheEngineAgrees) {
  Random random(6);
  for (const PipelineOrder order : NamedOrders()) {
    for (const int stages : {2, 4, 6}) {
      const int chunks = order == PipelineOrder::kInterleaved ? 3 : LeastChunks(order);
      const ChunkMap map(PlacementOf(order), stages, chunks);
      for (const int micro_batches : {2 * stages, 2 * stages + 4, 5 * stages}) {
        SCOPED_TRACE(std::string(Name(order)) + " " + std::to_string(stages) + " stages " +
                     std::to_string(micro_batches));
        if (!FindMicroBatchError(order, map, micro_batches).empty()) continue;
        OrderInputs inputs = RandomInputs(map, random);
        const PipelineOrders orders = MakeOrders(order, {}, map, micro_batches, &inputs);
        if (map.placement() != Placement::kLooped)
          inputs.costs.transfers.assign(stages, Duration());
        EXPECT_EQ(FindOrderError(map, orders, micro_batches, false), std::nullopt);
        const TimedSchedule timed = BuildPipeline(map, orders, micro_batches, inputs.costs);
        EXPECT_EQ(Engine().Run(timed.schedule, timed.durations).makespan(),
                  TimeOrders(map, orders, micro_batches, inputs.costs).Makespan());
      }
    }
  }
}

TEST(MakeOrdersTest, ShapesThatDoNotSuitAreNamed) {
  EXPECT_EQ(FindChunkError(PipelineOrder::kInterleaved, Placement::kLooped, 4, 1),
            "order: interleaved with 1 chunk per stage, want at least 2");
  EXPECT_EQ(FindChunkError(PipelineOrder::kZeroBubbleV, Placement::kWave, 4, 3),
            "order: zb-v with 3 chunks per stage, want 2");
  EXPECT_EQ(FindChunkError(PipelineOrder::kChimera, Placement::kBidirectional, 6, 4),
            "order: chimera with 6 stages and 4 chunks of each, want an even number of chunks that "
            "divides the stages");
  EXPECT_EQ(FindChunkError(PipelineOrder::kChimera, Placement::kBidirectional, 8, 4), "");
  EXPECT_EQ(
      FindMicroBatchError(PipelineOrder::kDualPipe, ChunkMap::Bidirectional(4), 7),
      "order: dualpipe with 7 micro-batches per pipeline, want an even number, at least twice "
      "the 4 stages");
}

TEST(MakeOrdersTest, AnActivationLimitBelowOneMicroBatchIsRefused) {
  Random random(1);
  const ChunkMap map = ChunkMap::Looped(4, 1);
  const OrderInputs inputs = RandomInputs(map, random);
  for (const PipelineOrder order : {PipelineOrder::kZeroBubbleAuto, PipelineOrder::kList}) {
    OrderOptions options;
    options.activation_limit = 0.1;
    EXPECT_THROW(MakeOrders(order, options, map, 8, &inputs), InputError);
  }
}

}  // namespace
}  // namespace stagecraft
