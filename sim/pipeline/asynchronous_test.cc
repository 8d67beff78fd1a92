#include "sim/pipeline/asynchronous.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/micro_batch_shares.h"
#include "sim/pipeline/order_errors.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

constexpr WeightSync kStashing = WeightSync::kStashing;
constexpr WeightSync kVertical = WeightSync::kVertical;

// "F0/0": the forward of the first mini-batch with version 0 of the weights; '!' after a pass marks
// a change of the weights.
std::string Text(const EndlessOrder& order) {
  std::string text;
  size_t update = 0;
  for (size_t i = 0; i < order.passes.size(); ++i) {
    text += order.passes[i].phase == Phase::kForward ? 'F' : 'B';
    text += std::to_string(order.passes[i].micro_batch) + "/" + std::to_string(order.versions[i]);
    const bool changes =
        update < order.updates.size() && order.updates[update].behind == static_cast<int>(i);
    text += changes ? "! " : " ";
    update += changes ? 1 : 0;
  }
  return text;
}

// Two stages: in the first, mini-batch b uses the gradients up to those of b - 2, in the second
// those of all before it.
TEST(AsynchronousTest, TwoStagesAlternateForEver) {
  const int replicas[] = {1, 1};
  EXPECT_EQ(Text(PipeDreamOrder(replicas, 0, 0, 4, kStashing)),
            "F0/0 F1/0 B0/0! F2/1 B1/0! F3/2 B2/1! B3/2! ");
  EXPECT_EQ(Text(PipeDreamOrder(replicas, 1, 0, 3, kStashing)),
            "F0/0 B0/0! F1/1 B1/1! F2/2 B2/2! ");
  EXPECT_EQ(Text(PipeDreamOrder(replicas, 1, 0, 3, kVertical)),
            "F0/0 B0/0! F1/0 B1/0! F2/1 B2/1! ");
}

// VGG-16 as PipeDream published it: 15 replicas of the convolutions, one of the other layers.
TEST(AsynchronousTest, Vgg16OnSixteenDevices) {
  const int replicas[] = {15, 1};
  EXPECT_EQ(MiniBatchesInFlight(replicas), 2);
  const StageAsynchrony first = AsynchronyOf(replicas, 0, kStashing);
  EXPECT_EQ(first.warmup, 1);
  EXPECT_EQ(first.versions, 2);
  EXPECT_EQ(first.staleness, 1);
  const StageAsynchrony second = AsynchronyOf(replicas, 1, kStashing);
  EXPECT_EQ(second.warmup, 0);
  EXPECT_EQ(second.versions, 1);
  EXPECT_EQ(second.staleness, 0);
  // The last of 15 mini-batches that entered together uses the weights that the second stage had
  // before the 15 ahead of them: 15 + 14 updates of one mini-batch each.
  EXPECT_EQ(AsynchronyOf(replicas, 1, kVertical).staleness, 29);
}

// GNMT on four devices, one stage each.
TEST(AsynchronousTest, GnmtStraight) {
  const int replicas[] = {1, 1, 1, 1};
  EXPECT_EQ(MiniBatchesInFlight(replicas), 4);
  for (int stage = 0; stage < 4; ++stage) {
    const StageAsynchrony own = AsynchronyOf(replicas, stage, kStashing);
    EXPECT_EQ(own.warmup, 3 - stage);
    EXPECT_EQ(own.versions, 4 - stage);
    EXPECT_EQ(own.staleness, 3 - stage);
    EXPECT_EQ(AsynchronyOf(replicas, stage, kVertical).versions, 4);
    EXPECT_EQ(AsynchronyOf(replicas, stage, kVertical).staleness, 3);
  }
}

// PipeDream's ResNet-50, and a pipeline whose later stages have more replicas.
TEST(AsynchronousTest, UnequalReplicasWarmUpByTheDevicesBehindThem) {
  const int resnet[] = {8, 4, 4};
  EXPECT_EQ(MiniBatchesInFlight(resnet), 2);
  EXPECT_EQ(AsynchronyOf(resnet, 0, kStashing).warmup, 1);
  EXPECT_EQ(AsynchronyOf(resnet, 1, kStashing).warmup, 1);
  EXPECT_EQ(AsynchronyOf(resnet, 2, kStashing).warmup, 0);
  const int widening[] = {1, 3};
  EXPECT_EQ(MiniBatchesInFlight(widening), 4);
  EXPECT_EQ(AsynchronyOf(widening, 0, kStashing).staleness, 3);
}

// One window of mini-batches over all replicas means the same as a warm-up of each replica.
TEST(AsynchronousTest, ReplicasRunAsOneWindowOverTheirShares) {
  const int replicas[] = {3, 2, 1};
  const int window[] = {6, 3, 1};
  for (int stage = 0; stage < 3; ++stage) {
    const std::vector<int> counts(replicas[stage], 12 / replicas[stage]);
    for (int replica = 0; replica < replicas[stage]; ++replica) {
      EXPECT_EQ(PipeDreamOrder(replicas, stage, replica, 12, kStashing).passes,
                OneForwardOneBackwardOrder(window[stage], MicroBatchShares(counts), replica));
    }
  }
}

TEST(AsynchronousTest, LaterReplicasTakeFewerOfWhatDoesNotDivide) {
  const int replicas[] = {3, 1};
  EXPECT_EQ(PipeDreamOrder(replicas, 0, 0, 4, kStashing).passes.size(), 4u);
  EXPECT_EQ(PipeDreamOrder(replicas, 0, 2, 4, kStashing).passes.size(), 2u);
  EXPECT_TRUE(PipeDreamOrder(replicas, 0, 2, 2, kStashing).passes.empty());
}

// Stage 0 of 2 with batches of two micro-batches: batch 1 still uses version 0, and batch 2 uses
// version 1, the newest when it begins.
TEST(AsynchronousTest, DoubleBufferingIsOneUpdateLate) {
  EXPECT_EQ(Text(DoubleBufferedOrder(1, 2, 3)),
            "F0/0 F1/0 B0/0 F2/0 B1/0! F3/0 B2/0 F4/1 B3/0! F5/1 B4/1 B5/1! ");
}

// No pass uses weights that do not exist yet or that are no longer kept.
TEST(AsynchronousTest, VersionsAreAmongThoseKept) {
  const auto check = [](const EndlessOrder& order, int versions) {
    int newest = 0;
    size_t update = 0;
    for (size_t i = 0; i < order.passes.size(); ++i) {
      EXPECT_LE(order.versions[i], newest);
      EXPECT_GT(order.versions[i], newest - versions);
      if (update < order.updates.size() && order.updates[update].behind == static_cast<int>(i)) {
        ++update;
        ++newest;
      }
    }
  };
  const std::vector<std::vector<int>> shapes = {
      {15, 1}, {1, 1, 1, 1}, {8, 4, 4}, {2, 3}, {5, 2, 3}};
  for (const std::vector<int>& replicas : shapes) {
    for (int stage = 0; stage < static_cast<int>(replicas.size()); ++stage) {
      for (const WeightSync sync : {kStashing, kVertical}) {
        const int versions = AsynchronyOf(replicas, stage, sync).versions;
        for (int replica = 0; replica < replicas[stage]; ++replica) {
          check(PipeDreamOrder(replicas, stage, replica, 300, sync), versions);
        }
      }
    }
  }
  for (int warmup = 0; warmup < 8; ++warmup) check(DoubleBufferedOrder(warmup, 8, 6), 2);
}

TEST(AsynchronousTest, ThePeriodIsTheSlowestStagesShare) {
  const PassTimes stages[] = {{30_us, 30_us, 30_us}, {10_us, 10_us, 5_us}};
  const int replicas[] = {3, 1};
  EXPECT_EQ(SteadyPeriod(stages, replicas), 30_us);
}

TEST(AsynchronousTest, StraightOrdersRun) {
  const int replicas[] = {1, 1, 1};
  PassOrders orders;
  for (int stage = 0; stage < 3; ++stage) {
    orders.push_back(PipeDreamOrder(replicas, stage, 0, 9, kStashing).passes);
  }
  EXPECT_EQ(FindOrderError(ChunkMap::Looped(3, 1), orders, 9, false), std::nullopt);
}

}  // namespace
}  // namespace stagecraft
