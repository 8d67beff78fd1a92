#include "sim/memory/update_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stagecraft {
namespace {

// The most that the allocator holds at once.
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
  parameters.all = 4096;
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
  parameters.all = kAll;
  parameters.own = kAll / 8;
  parameters.ranks = 8;
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
  parameters.all = parameters.own = 1024;
  EXPECT_EQ(TraceUpdate(UpdateKind::kDeepspeed, parameters).summary.peak, 8 * 1024);
  parameters.working = parameters.gradient = 4;
  EXPECT_EQ(TraceUpdate(UpdateKind::kDeepspeed, parameters), ChunkPass());
  parameters.ranks = 2;
  EXPECT_EQ(TraceUpdate(UpdateKind::kDeepspeed, parameters).summary.peak, 4 * 1024);
}

}  // namespace
}  // namespace stagecraft
