#include "sim/memory/update_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stagecraft {
namespace {

// Returns the most that the allocator holds at once.
int64_t Most(const ChunkPass& update) {
  int64_t held = 0;
  int64_t most = 0;
  for (const TensorEvent& event : update.tensors.events) {
    held += event.change;
    most = std::max(most, held);
  }
  EXPECT_EQ(held, 0);
  return most;
}

// Sizes are multiples of 512 bytes, so that nothing is rounded.
TEST(UpdateTensorsTest, ForeachHoldsTheRootsOfAllSecondMoments) {
  UpdatedParameters parameters;
  parameters.own = 1024;
  const ChunkPass adam = TraceUpdate(UpdateKind::kForeach, parameters);
  EXPECT_EQ(adam.summary.peak, 4 * 1024);
  EXPECT_EQ(Most(adam), 4 * 1024);
  EXPECT_EQ(TraceUpdate(UpdateKind::kFused, parameters), ChunkPass());
  parameters.optimizer = Optimizer::kSgd;
  EXPECT_EQ(TraceUpdate(UpdateKind::kForeach, parameters), ChunkPass());
}

// 1.28 billion parameters on 8 ranks: three buckets of 16-bit gradients, the flat copies of an
// eighth with 2 + 4 bytes, and two shards of parameters.
TEST(UpdateTensorsTest, DeepspeedCopiesGradientsIntoBucketsAndFlatTensors) {
  constexpr int64_t kAll = 1'280'000'000;
  UpdatedParameters parameters;
  parameters.reduced = parameters.gathered = kAll;
  parameters.own = kAll / 8;
  parameters.zero = 1;
  const ChunkPass update = TraceUpdate(UpdateKind::kDeepspeed, parameters);
  std::vector<int64_t> made;
  for (const TensorEvent& event : update.tensors.events) {
    if (event.change > 0) made.push_back(event.change);
  }
  ASSERT_EQ(made.size(), 7u);
  EXPECT_EQ(made[0], 1'000'000'000);
  EXPECT_EQ(made[3], 2 * kAll / 8);
  EXPECT_EQ(made[4], 4 * kAll / 8);
  // One shard at a time is allocated, but the allocator needs room for both.
  EXPECT_NEAR(static_cast<double>(update.summary.peak), kAll, 1024);
  EXPECT_NEAR(static_cast<double>(Most(update)), 2 * kAll, 2048);
}

// Gradients are cast one by one, and the casts are then made one.
TEST(UpdateTensorsTest, DeepspeedWithoutZeroHoldsEveryGradientTwiceIn32Bits) {
  UpdatedParameters parameters;
  parameters.own = 1024;
  EXPECT_EQ(TraceUpdate(UpdateKind::kDeepspeed, parameters).summary.peak, 8 * 1024);
  parameters.working = parameters.gradient = 4;
  EXPECT_EQ(TraceUpdate(UpdateKind::kDeepspeed, parameters), ChunkPass());
  parameters.reduced = 1024;
  EXPECT_EQ(TraceUpdate(UpdateKind::kDeepspeed, parameters).summary.peak, 4 * 1024);
}

// The dense parameters are held by 8 ranks, and those of each expert by 2 of them, or by 1.
TEST(UpdateTensorsTest, ExpertsAreReducedAndGatheredAmongTheirHolders) {
  const ParameterCount trained{.dense = 800, .expert = 160};
  StateSharing sharing{.zero = 1, .ranks = 8, .experts = 2, .holders = 8, .expert_holders = 2};
  UpdatedParameters updated = UpdatedBy(trained, sharing, false);
  EXPECT_EQ(updated.reduced, 960);
  EXPECT_EQ(updated.own, 100 + 80);
  EXPECT_EQ(updated.gathered, 960);
  sharing.experts = sharing.expert_holders = 1;
  updated = UpdatedBy(trained, sharing, false);
  EXPECT_EQ(updated.reduced, 800);
  EXPECT_EQ(updated.own, 100 + 160);
  EXPECT_EQ(updated.gathered, 800);
}

TEST(UpdateTensorsTest, WhatPassesReduceAndGatherIsNotLeftForTheUpdate) {
  StateSharing sharing{.ranks = 8, .holders = 8};
  const auto updated = [&](int zero) {
    sharing.zero = zero;
    const UpdatedParameters of = UpdatedBy({.dense = 800}, sharing, false);
    return std::vector<int64_t>{of.reduced, of.own, of.gathered};
  };
  EXPECT_EQ(updated(0), (std::vector<int64_t>{800, 800, 0}));
  EXPECT_EQ(updated(1), (std::vector<int64_t>{800, 100, 800}));
  EXPECT_EQ(updated(2), (std::vector<int64_t>{0, 100, 800}));
  EXPECT_EQ(updated(3), (std::vector<int64_t>{0, 100, 0}));
}

TEST(UpdateTensorsTest, TheHostUpdatesWithoutCopiesOnTheDevice) {
  const StateSharing sharing{.zero = 1, .ranks = 8, .holders = 8};
  const UpdatedParameters updated = UpdatedBy({.dense = 1024}, sharing, true);
  EXPECT_EQ(updated.own, 0);
  EXPECT_EQ(updated.gathered, 1024);
  EXPECT_EQ(TraceUpdate(UpdateKind::kForeach, updated), ChunkPass());
}

}  // namespace
}  // namespace stagecraft
