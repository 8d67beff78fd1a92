#include "sim/pipeline/make_pass_orders.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "sim/engine/engine.h"
#include "sim/pipeline/order_errors.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/timed_pipeline.h"

namespace stagecraft {
namespace {

PassOrderInputs RandomInputs(const ChunkMap& map, Random& random) {
  PassOrderInputs inputs;
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
  for (const PipelineSchedule pipeline_schedule : NamedPipelineSchedules())
    EXPECT_EQ(FindPipelineSchedule(Name(pipeline_schedule)), pipeline_schedule);
  EXPECT_FALSE(FindPipelineSchedule("zb"));
}

// The engine gives the times that TimeOrders() computes, whatever the costs, except that messages
// which go the same way from both chunks of a stage share a link. No pass of any schedule is
// missing, repeated or stuck.
TEST(MakeOrdersTest, EveryOrderRunsAndTheEngineAgrees) {
  Random random(6);
  for (const PipelineSchedule pipeline_schedule : NamedPipelineSchedules()) {
    for (const int stages : {2, 4, 6}) {
      const int chunks =
          pipeline_schedule == PipelineSchedule::kInterleaved ? 3 : LeastChunks(pipeline_schedule);
      const ChunkMap map(PlacementOf(pipeline_schedule), stages, chunks);
      for (const int micro_batches : {2 * stages, 2 * stages + 4, 5 * stages}) {
        SCOPED_TRACE(std::string(Name(pipeline_schedule)) + " " + std::to_string(stages) +
                     " stages " + std::to_string(micro_batches));
        if (!FindMicroBatchError(pipeline_schedule, map, micro_batches).empty()) continue;
        PassOrderInputs inputs = RandomInputs(map, random);
        const PassOrders orders =
            MakePassOrders(pipeline_schedule, {}, map, micro_batches, &inputs);
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
  EXPECT_EQ(FindChunkError(PipelineSchedule::kInterleaved, Placement::kLooped, 4, 1),
            "order: interleaved with 1 chunk per stage, want at least 2");
  EXPECT_EQ(FindChunkError(PipelineSchedule::kZeroBubbleV, Placement::kWave, 4, 3),
            "order: zb-v with 3 chunks per stage, want 2");
  EXPECT_EQ(FindChunkError(PipelineSchedule::kChimera, Placement::kBidirectional, 6, 4),
            "order: chimera with 6 stages and 4 chunks of each, want an even number of chunks that "
            "divides the stages");
  EXPECT_EQ(FindChunkError(PipelineSchedule::kChimera, Placement::kBidirectional, 8, 4), "");
  EXPECT_EQ(
      FindMicroBatchError(PipelineSchedule::kDualPipe, ChunkMap::Bidirectional(4), 7),
      "order: dualpipe with 7 micro-batches per pipeline, want an even number, at least twice "
      "the 4 stages");
}

TEST(MakeOrdersTest, AnActivationLimitBelowOneMicroBatchIsRefused) {
  Random random(1);
  const ChunkMap map = ChunkMap::Looped(4, 1);
  const PassOrderInputs inputs = RandomInputs(map, random);
  for (const PipelineSchedule pipeline_schedule :
       {PipelineSchedule::kZeroBubbleAuto, PipelineSchedule::kList}) {
    PipelineScheduleOptions options;
    options.activation_limit = 0.1;
    EXPECT_THROW(MakePassOrders(pipeline_schedule, options, map, 8, &inputs), InputError);
  }
}

}  // namespace
}  // namespace stagecraft
