#include "sim/analysis/bubble.h"

#include <gtest/gtest.h>

#include "sim/engine/engine.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/timed_pipeline.h"

namespace stagecraft {
namespace {

PassOrders OrdersOf(int stages, int micro_batches) {
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    orders.push_back(OneForwardOneBackwardOrder(stages - 1 - stage, micro_batches));
  }
  return orders;
}

Bubble BubbleOf(const TimedSchedule& timed) {
  const Timeline timeline = Engine().Run(timed.schedule, timed.durations);
  const TaskWaits waits(timed.schedule, timeline, nullptr);
  return FindBubble(timed.schedule, timeline, waits, nullptr);
}

struct Causes {
  Duration warm_up = {}, imbalance = {}, communication = {}, drain = {};
};

void ExpectIdle(const RankTime& got, const Causes& want) {
  EXPECT_EQ(got.idle_by(IdleCause::kWarmUp), want.warm_up) << "rank " << got.rank;
  EXPECT_EQ(got.idle_by(IdleCause::kImbalance), want.imbalance) << "rank " << got.rank;
  EXPECT_EQ(got.idle_by(IdleCause::kCommunication), want.communication) << "rank " << got.rank;
  EXPECT_EQ(got.idle_by(IdleCause::kDrain), want.drain) << "rank " << got.rank;
  EXPECT_EQ(got.idle_by(IdleCause::kUpdate), Duration()) << "rank " << got.rank;
  EXPECT_EQ(got.idle_by(IdleCause::kHost), Duration()) << "rank " << got.rank;
}

// ms       0  1  2  3  4  5  6  7  8  9 10 11 12
// stage 0: F0 F1 .  .  B0 B0 F2 B1 B1 .  B2 B2
// stage 1: .  F0 B0 B0 F1 B1 B1 F2 B2 B2 .  .
TEST(BubbleTest, EqualStagesHaveWarmUpAndDrainOnly) {
  const Bubble bubble =
      BubbleOf(BuildUniformPipeline({OrdersOf(2, 3), 1, 3, 1_ms, 2_ms, Duration()}));
  ASSERT_EQ(bubble.ranks.size(), 2u);
  ExpectIdle(bubble.ranks[0], {.warm_up = 2_ms, .drain = 1_ms});
  ExpectIdle(bubble.ranks[1], {.warm_up = 1_ms, .drain = 2_ms});
  EXPECT_EQ(bubble.ranks[0].compute, 9_ms);
  // The longest wait of all is that of stage 0 for the first backward of stage 1; stage 1 waits as
  // long for the last backward of stage 0.
  ASSERT_EQ(bubble.waits.size(), 4u);
  EXPECT_EQ(bubble.waits[0].stage, 0);
  EXPECT_EQ(bubble.waits[0].for_stage, 1);
  EXPECT_EQ(bubble.waits[0].for_phase, Phase::kBackward);
  EXPECT_EQ(bubble.waits[0].time, 2_ms);
  EXPECT_EQ(bubble.waits[1].stage, 1);
  EXPECT_EQ(bubble.waits[1].cause, IdleCause::kDrain);
}

// Each of p stages idles (p - 1) (forward + backward).
TEST(BubbleTest, FourStagesHaveWarmUpAndDrainOnly) {
  const Bubble bubble =
      BubbleOf(BuildUniformPipeline({OrdersOf(4, 12), 1, 12, 1_ms, 2_ms, Duration()}));
  for (const RankTime& rank : bubble.ranks) {
    EXPECT_EQ(rank.idle_by(IdleCause::kWarmUp) + rank.idle_by(IdleCause::kDrain), 9_ms);
    EXPECT_EQ(rank.Idle(), 9_ms);
    EXPECT_EQ(rank.Busy(), 36_ms);
  }
}

// ms       0    2    4    6    8   10   12   14   16   18   20   22   24   26
// stage 0: F0F1 .............. B0B0 F2 ....... B1B1 F3 ....... B2B2 ......... B3B3
// stage 1: . F0F0 B0B0B0B0 F1F1 B1B1B1B1 F2F2 B2B2B2B2 F3F3 B3B3B3B3 .......
// Stage 0 begins its passes at 0, 1, 7, 9, 13, 15, 19 and 25.
TEST(BubbleTest, ASlowStageKeepsTheOtherWaitingInBetween) {
  PipelineCosts costs = UniformCosts(2, 1, {1_ms, 2_ms, Duration()}, Duration());
  costs.times[1][0] = {2_ms, 4_ms, Duration()};
  const Bubble bubble = BubbleOf(BuildPipeline(ChunkMap::Looped(2, 1), OrdersOf(2, 4), 4, costs));
  ExpectIdle(bubble.ranks[0], {.warm_up = 5_ms, .imbalance = 3_ms, .drain = 7_ms});
  ExpectIdle(bubble.ranks[1], {.warm_up = 1_ms, .drain = 2_ms});
}

// ms       0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
// stage 0: F0 F1 .  .  .  .  B0 B0 F2 B1 B1 .  .  .  B2 B2
// stage 1: .  .  F0 B0 B0 F1 B1 B1 .  .  F2 B2 B2 .  .  .
TEST(BubbleTest, TransfersInFlightAreCommunication) {
  const Bubble bubble = BubbleOf(BuildUniformPipeline({OrdersOf(2, 3), 1, 3, 1_ms, 2_ms, 1_ms}));
  ExpectIdle(bubble.ranks[0], {.warm_up = 3_ms, .communication = 2_ms, .drain = 2_ms});
  ExpectIdle(bubble.ranks[1],
             {.warm_up = 1_ms, .imbalance = 1_ms, .communication = 3_ms, .drain = 2_ms});
}

TEST(BubbleTest, WithoutBackwardsThePipelineFillsAndEmpties) {
  PassOrders orders(2);
  for (PassOrder& order : orders) {
    for (int32_t b = 0; b < 3; ++b) order.push_back({Phase::kForward, 0, b});
  }
  const Bubble bubble = BubbleOf(BuildUniformPipeline({orders, 1, 3, 1_ms, 2_ms, Duration()}));
  ExpectIdle(bubble.ranks[0], {.drain = 1_ms});
  ExpectIdle(bubble.ranks[1], {.warm_up = 1_ms});
}

}  // namespace
}  // namespace stagecraft
