#include "sim/pipeline/order_times.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Two stages, one micro-batch: F, transfer, F, B, transfer, B.
TEST(OrderTimesTest, APassWaitsForItsNeighbourAndTheTransfer) {
  const PassOrders orders(2, {{Phase::kForward, 0, 0}, {Phase::kBackward, 0, 0}});
  const OrderTimes times =
      TimeOrders(ChunkMap::Looped(2, 1), orders, 1, UniformCosts(2, 1, {1_us, 1_us, 1_us}, 5_us));
  EXPECT_EQ(times.passes[1][0].start, 6_us);
  EXPECT_EQ(times.passes[0][1].start, 14_us);
  EXPECT_EQ(times.Makespan(), 16_us);
  EXPECT_EQ(times.LongestStage(), 16_us);
}

TEST(OrderTimesTest, TheNeighbourWaitsForInputGradientsOnly) {
  const PassOrder split = {
      {Phase::kForward, 0, 0}, {Phase::kBackwardInput, 0, 0}, {Phase::kBackwardWeight, 0, 0}};
  const PassOrders orders(2, split);
  const OrderTimes times =
      TimeOrders(ChunkMap::Looped(2, 1), orders, 1, UniformCosts(2, 1, {1_us, 2_us, 4_us}, 0_us));
  EXPECT_EQ(times.passes[0][1].start, 4_us);
  EXPECT_EQ(times.Makespan(), 10_us);
}

// One stage of two chains: passes beside each other end together.
TEST(OrderTimesTest, PassesBesideEachOtherEndTogether) {
  PassOrder order = {{Phase::kForward, 0, 0},
                     {Phase::kForward, 0, 1},
                     {Phase::kBackward, 0, 0},
                     {Phase::kBackward, 0, 1}};
  order[1].beside_next = true;
  const OrderTimes times = TimeOrders(ChunkMap::Looped(1, 1), PassOrders(1, order), 2,
                                      UniformCosts(1, 1, {1_us, 1_us, 1_us}, 0_us));
  EXPECT_EQ(times.passes[0][1].end, 4_us);
  EXPECT_EQ(times.passes[0][2].end, 4_us);
}

TEST(OrderTimesTest, OrdersThatWaitForEachOtherAreRefused) {
  const PassOrders orders = {
      {{Phase::kForward, 0, 0}, {Phase::kBackward, 0, 0}, {Phase::kForward, 0, 1}},
      {{Phase::kForward, 0, 1}, {Phase::kForward, 0, 0}, {Phase::kBackward, 0, 0}}};
  EXPECT_THROW(
      TimeOrders(ChunkMap::Looped(2, 1), orders, 2, UniformCosts(2, 1, {1_us, 1_us, 1_us}, 0_us)),
      InputError);
}

}  // namespace
}  // namespace stagecraft
