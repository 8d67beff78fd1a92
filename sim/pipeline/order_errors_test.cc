#include "sim/pipeline/order_errors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stagecraft {
namespace {

constexpr Phase F = Phase::kForward;
constexpr Phase B = Phase::kBackward;
constexpr Phase I = Phase::kBackwardInput;
constexpr Phase W = Phase::kBackwardWeight;

// The error of orders with one chain and one chunk per stage.
std::string ErrorOf(const PassOrders& orders, int micro_batches, bool forward_only = false) {
  const ChunkMap map = ChunkMap::Looped(static_cast<int>(orders.size()), 1);
  return FindOrderError(map, orders, micro_batches, forward_only).value_or("");
}

TEST(OrderErrorsTest, OrdersThatRunEveryPassOnceAreRight) {
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {B, 0, 0}}, {{F, 0, 0}, {I, 0, 0}, {W, 0, 0}}}, 1), "");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}}, {{F, 0, 0}}}, 1, true), "");
}

TEST(OrderErrorsTest, APassMissingIsNamed) {
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {B, 0, 0}}}, 2), "rank 0 lacks forward of micro-batch 1");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}}}, 1), "rank 0 lacks backward of micro-batch 0");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {I, 0, 0}}}, 1), "rank 0 lacks backward weight of micro-batch 0");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}}, {}}, 1, true), "rank 1 lacks forward of micro-batch 0");
}

TEST(OrderErrorsTest, APassRepeatedIsNamed) {
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {F, 0, 0}, {B, 0, 0}}}, 1),
            "rank 0 runs forward of micro-batch 0 twice");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {B, 0, 0}, {I, 0, 0}}}, 1),
            "rank 0 runs backward input of micro-batch 0 twice");
}

TEST(OrderErrorsTest, APassOutOfRangeIsNamed) {
  EXPECT_EQ(ErrorOf({{{F, 0, 3}}}, 2),
            "rank 0 runs forward of micro-batch 3, want micro-batches "
            "below 2");
  EXPECT_EQ(ErrorOf({{{F, 0, -1}}}, 2),
            "rank 0 runs forward of micro-batch -1, want micro-batches "
            "below 2");
  EXPECT_EQ(ErrorOf({{{F, 2, 0}}}, 1), "rank 0 runs chunk 2, want chunks below 1");
  EXPECT_EQ(ErrorOf({{{Phase::kOptimizer, 0, 0}}}, 1),
            "rank 0 runs optimizer, want forwards and backwards");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {B, 0, 0}}}, 1, true),
            "rank 0 runs backward, want forwards "
            "only");
}

TEST(OrderErrorsTest, APassBeforeItsOwnTurnIsNamed) {
  EXPECT_EQ(ErrorOf({{{B, 0, 0}, {F, 0, 0}}}, 1),
            "rank 0 runs backward of micro-batch 0 before its forward");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {W, 0, 0}, {I, 0, 0}}}, 1),
            "rank 0 runs backward weight of micro-batch 0 before its backward input");
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {B, 0, 0}, {W, 0, 0}}}, 1),
            "rank 0 runs backward weight of micro-batch 0, which its whole backward already did");
}

TEST(OrderErrorsTest, APassBesideNothingOrItsOwnChunkIsNamed) {
  EXPECT_EQ(
      ErrorOf({{{F, 0, 0}, {B, 0, 0, true}}}, 1),
      "rank 0 runs backward of micro-batch 0 together with the next pass, but is the last one");
  EXPECT_EQ(ErrorOf({{{F, 0, 0, true}, {B, 0, 0}}}, 1),
            "rank 0 runs forward of micro-batch 0 together with a pass of the same chunk");
  EXPECT_EQ(ErrorOf({{{F, 0, 0, true}, {F, 0, 1}, {B, 0, 0}, {B, 0, 1}}}, 2),
            "rank 0 runs forward of micro-batch 0 together with a pass of the same chunk");
  EXPECT_EQ(FindOrderError(ChunkMap::Looped(1, 2),
                           PassOrders{{{F, 0, 0, true}, {F, 1, 0, true}, {F, 0, 1}}}, 2, true),
            "rank 0 runs forward of micro-batch 0 chunk 0 together with two passes");
}

TEST(OrderErrorsTest, AForwardMayRunBesideABackwardOfAnotherMicroBatch) {
  EXPECT_EQ(
      FindOrderError(ChunkMap::Looped(1, 1),
                     PassOrders{{{F, 0, 0}, {F, 0, 1, true}, {B, 0, 0}, {B, 0, 1}}}, 2, false),
      std::nullopt);
}

TEST(OrderErrorsTest, OrdersOfTooFewRanksAreNamed) {
  EXPECT_EQ(FindOrderError(ChunkMap::Looped(2, 1), PassOrders(1), 1, false),
            "got schedules of 1 ranks, want 2");
}

// Rank 0 wants the gradients of micro-batch 0 before it runs micro-batch 1, but rank 1 wants
// micro-batch 1 first.
TEST(OrderErrorsTest, ADeadlockSaysWhoWaitsForWhat) {
  EXPECT_EQ(ErrorOf({{{F, 0, 0}, {B, 0, 0}, {F, 0, 1}, {B, 0, 1}},
                     {{F, 0, 1}, {F, 0, 0}, {B, 0, 0}, {B, 0, 1}}},
                    2),
            "deadlock: rank 0 waits for backward of micro-batch 0 on rank 1, which waits for "
            "forward of micro-batch 1 on rank 0");
}

// The second chunk of a wave's last stage takes the output of the first.
TEST(OrderErrorsTest, ARankMayWaitForItself) {
  const PassOrders orders = {{{F, 1, 0}, {F, 0, 0}, {B, 1, 0}, {B, 0, 0}}};
  EXPECT_EQ(FindOrderError(ChunkMap::Wave(1, 2), orders, 1, false),
            "deadlock: rank 0 waits for forward of micro-batch 0 chunk 0, which it does not run "
            "before");
}

// In a ring of 20 every rank first runs what the rank before it runs second.
TEST(OrderErrorsTest, ALongCircleIsCutAtTwelve) {
  PassOrders orders;
  constexpr int kStages = 20;
  for (int stage = 0; stage < kStages; ++stage) {
    // Chunk 1 of the micro-batch comes before its chunk 0.
    orders.push_back({{F, 1, 0}, {F, 0, 0}});
  }
  const std::string error =
      FindOrderError(ChunkMap::Looped(kStages, 2), orders, 1, true).value_or("");
  EXPECT_EQ(error.find("deadlock: rank 0 waits for forward of micro-batch 0 chunk 0 on rank 19, "
                       "which waits for forward of micro-batch 0 chunk 1 on rank 18"),
            0u)
      << error;
  const std::string end = " on rank 8, which waits through 8 more for rank 0";
  ASSERT_GT(error.size(), end.size());
  EXPECT_EQ(error.substr(error.size() - end.size()), end);
}

}  // namespace
}  // namespace stagecraft
