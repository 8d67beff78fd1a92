#include <gtest/gtest.h>

#include "sim/engine/engine.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/timed_pipeline.h"

namespace stagecraft {
namespace {

std::string Text(const PassOrder& order) {
  std::string text;
  for (const Pass& pass : order) {
    text += pass.phase == Phase::kForward ? 'F' : 'B';
    text += std::to_string(pass.micro_batch);
  }
  return text;
}

TEST(OrderTest, OneForwardOneBackwardOfTheFirstOfThreeStages) {
  EXPECT_EQ(Text(OneForwardOneBackwardOrder(2, 4)), "F0F1F2B0F3B1B2B3");
}

TEST(OrderTest, GpipeRunsBackwardsInReverse) { EXPECT_EQ(Text(GpipeOrder(3)), "F0F1F2B2B1B0"); }

TEST(OrderTest, WarmupNeverExceedsTheMicroBatches) {
  EXPECT_EQ(Text(OneForwardOneBackwardOrder(7, 2)), "F0F1B0B1");
}

// Stage 1 of 2, with two chunks and four micro-batches, as in Megatron-LM.
TEST(OrderTest, InterleavedGoesThroughChunksInGroupsOfStages) {
  const PassOrder order = InterleavedOrder(1, 2, 2, 4);
  ASSERT_EQ(order.size(), 16u);
  EXPECT_EQ(order[0], (Pass{Phase::kForward, 0, 0}));
  EXPECT_EQ(order[1], (Pass{Phase::kForward, 0, 1}));
  EXPECT_EQ(order[2], (Pass{Phase::kForward, 1, 0}));
  EXPECT_EQ(order[3], (Pass{Phase::kBackward, 1, 0}));
}

Duration Makespan(UniformPipeline pipeline) {
  const TimedSchedule timed = BuildUniformPipeline(pipeline);
  return Engine().Run(timed.schedule, timed.durations).makespan();
}

// GPipe and 1F1B both take (m + p - 1)(F + B).
TEST(PipelineTest, SynchronousPipelinesMatchTheClosedForm) {
  for (const int p : {1, 2, 4, 7}) {
    for (const int m : {1, 3, 8, 20}) {
      UniformPipeline gpipe{{}, 1, m, 1_us, 2_us, 0_us};
      UniformPipeline flush = gpipe;
      for (int stage = 0; stage < p; ++stage) {
        gpipe.orders.push_back(GpipeOrder(m));
        flush.orders.push_back(OneForwardOneBackwardOrder(p - 1 - stage, m));
        EXPECT_EQ(PeakInFlight(flush.orders.back()), std::min(p - stage, m));
      }
      EXPECT_EQ(Makespan(gpipe), (m + p - 1) * 3_us);
      EXPECT_EQ(Makespan(flush), (m + p - 1) * 3_us);
    }
  }
}

// The bubble is (p - 1)(F + B) / v of the costs of whole stages (Narayanan et al., SC21).
TEST(PipelineTest, InterleavingDividesTheBubbleByTheChunks) {
  for (const int p : {2, 4, 8}) {
    for (const int v : {2, 3, 4}) {
      const int m = 3 * p;
      UniformPipeline pipeline{{}, v, m, 1_us, 2_us, 0_us};
      for (int stage = 0; stage < p; ++stage) {
        pipeline.orders.push_back(InterleavedOrder(stage, p, v, m));
      }
      EXPECT_EQ(Makespan(pipeline), m * v * 3_us + (p - 1) * 3_us);
    }
  }
}

// Two stages and one micro-batch: F, transfer, F, B, transfer, B.
TEST(PipelineTest, TransfersDelayTheNextStage) {
  UniformPipeline pipeline{
      {OneForwardOneBackwardOrder(1, 1), OneForwardOneBackwardOrder(0, 1)}, 1, 1, 1_us, 2_us, 5_us};
  EXPECT_EQ(Makespan(pipeline), 16_us);
}

}  // namespace
}  // namespace stagecraft
