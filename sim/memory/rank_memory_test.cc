#include "sim/memory/rank_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace stagecraft {
namespace {

constexpr Bytes kMiB(1 << 20);
constexpr Bytes kPlenty(int64_t{1} << 40);

TensorEvent Event(Bytes size, bool is_made, int tensor, TensorRole role) {
  return {.change = is_made ? size.count() : -size.count(), .tensor = tensor, .role = role};
}

// A forward keeps 4 MiB and needs 2 more while it runs, a backward needs 3 more.
RankTensors TinyRank() {
  LayerTensors layer;
  layer.kept = 1;
  layer.tensors = 2;
  const auto add = [&](Phase phase, Bytes size, bool is_made, int tensor) {
    layer.passes[static_cast<size_t>(phase)].events.push_back(Event(
        size, is_made, tensor, tensor == 0 ? TensorRole::kActivation : TensorRole::kWorkspace));
  };
  add(Phase::kForward, 4 * kMiB, true, 0);
  add(Phase::kForward, 2 * kMiB, true, 1);
  add(Phase::kForward, 2 * kMiB, false, 1);
  add(Phase::kBackward, 3 * kMiB, true, 1);
  add(Phase::kBackward, 4 * kMiB, false, 0);
  add(Phase::kBackward, 3 * kMiB, false, 1);
  ChunkLayer one;
  one.tensors = &layer;
  RankTensors rank;
  rank.chunks = {std::make_shared<const ChunkTensors>(JoinLayers({&one, 1}))};
  rank.states.weights = 20 * kMiB;
  rank.workspace = 8 * kMiB;
  return rank;
}

// 20 + 8 MiB are held all the time, 4 are kept, and the backward needs 3.
TEST(RankMemoryTest, ThePeakIsItemised) {
  const PassOrder order = OneForwardOneBackwardOrder(0, 4);
  const RankPeak peak = WalkRank(TinyRank(), order);
  EXPECT_EQ(peak.allocated, 35 * kMiB);
  EXPECT_EQ(peak.activations, 4 * kMiB);
  EXPECT_EQ(peak.workspace, 11 * kMiB);
  // Segments of 20 MiB each for the weights, and for 8, 4 and 3 MiB.
  EXPECT_DOUBLE_EQ(ReservedShare(TinyRank(), order, kPlenty), 40.0 / 35);
}

TEST(RankMemoryTest, OneForwardOneBackwardHoldsItsWarmupAndOne) {
  for (const int warmup : {0, 1, 3, 7}) {
    const RankPeak peak = WalkRank(TinyRank(), OneForwardOneBackwardOrder(warmup, 16));
    EXPECT_EQ(peak.activations, (warmup + 1) * 4 * kMiB);
  }
}

TEST(RankMemoryTest, GpipeHoldsEveryMicroBatch) {
  for (const int micro_batches : {1, 5, 200}) {
    const RankPeak peak = WalkRank(TinyRank(), GpipeOrder(micro_batches));
    EXPECT_EQ(peak.activations, micro_batches * 4 * kMiB);
  }
}

// Three of 4 MiB go to the host: on the device, a micro-batch that is being copied takes 4, one
// that waits on the host 1. At GPipe's B7 the last two forwards, which stay, are whole.
TEST(RankMemoryTest, WhatWaitsWithTheHostTakesTheRestOfItsBytes) {
  RankTensors rank = TinyRank();
  rank.offloaded = 0.75;
  EXPECT_EQ(rank.Offloaded(0), 3 * kMiB);
  const RankPeak gpipe = WalkRank(rank, GpipeOrder(8));
  EXPECT_EQ(gpipe.activations, (2 * 4 + 6) * kMiB);
  EXPECT_EQ(gpipe.host, 6 * 3 * kMiB);
  // Beside F7, the last of the warm-up, F6 is leaving and F0 is back for B0.
  const RankPeak alternating = WalkRank(rank, OneForwardOneBackwardOrder(7, 16));
  EXPECT_EQ(alternating.activations, (3 * 4 + 5) * kMiB);
  // F7 begins to leave while the copy of F0 back may still run.
  EXPECT_EQ(alternating.host, 8 * 3 * kMiB);
}

TEST(RankMemoryTest, SegmentsHoldWhatIsAllocated) {
  for (const int micro_batches : {1, 2, 40}) {
    EXPECT_GE(ReservedShare(TinyRank(), GpipeOrder(micro_batches), kPlenty), 1);
  }
}

// On a GPU of 41 MiB nothing can be freed; the result says what a larger one would reserve.
TEST(RankMemoryTest, AGpuThatIsTooSmallStillHasAShare) {
  EXPECT_DOUBLE_EQ(ReservedShare(TinyRank(), GpipeOrder(5), 41 * kMiB), 60.0 / 51);
}

}  // namespace
}  // namespace stagecraft
