#include "sim/memory/rank_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/memory/reservation.h"

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
  // There are segments of 20 MiB each for the weights, and for 8, 4 and 3 MiB.
  EXPECT_DOUBLE_EQ(ReservationOf(TinyRank(), order, kPlenty).share, 40.0 / 35);
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
    EXPECT_GE(ReservationOf(TinyRank(), GpipeOrder(micro_batches), kPlenty).share, 1);
  }
}

// On a GPU of 41 MiB nothing can be freed; the result says what a larger one would reserve.
TEST(RankMemoryTest, AGpuThatIsTooSmallStillHasAShare) {
  EXPECT_DOUBLE_EQ(ReservationOf(TinyRank(), GpipeOrder(5), 41 * kMiB).share, 60.0 / 51);
}

// Returns a rank whose update makes a tensor of `size` and drops it.
RankTensors RankThatUpdates(Bytes size) {
  RankTensors rank = TinyRank();
  rank.update.tensors.events = {Event(size, true, 0, TensorRole::kWorkspace),
                                Event(size, false, 0, TensorRole::kWorkspace)};
  rank.update.summary.peak = size.count();
  return rank;
}

// Passes hold 7 MiB beside the 28 that are always there, and nothing of them is left when the
// update comes.
TEST(RankMemoryTest, TheUpdateIsThePeakIfItMakesMoreThanThePasses) {
  const PassOrder order = OneForwardOneBackwardOrder(0, 4);
  EXPECT_EQ(WalkRank(RankThatUpdates(6 * kMiB), order), WalkRank(TinyRank(), order));
  const RankPeak peak = WalkRank(RankThatUpdates(9 * kMiB), order);
  EXPECT_EQ(peak.allocated, 37 * kMiB);
  EXPECT_EQ(peak.update_excess, 2 * kMiB);
  EXPECT_EQ(peak.activations, Bytes());
  EXPECT_EQ(peak.workspace, 17 * kMiB);
}

// Passes leave a segment of 20 MiB with 12 free in one piece.
TEST(RankMemoryTest, TheUpdateTakesASegmentThatPassesDoNotHave) {
  const PassOrder order = OneForwardOneBackwardOrder(0, 4);
  EXPECT_EQ(ReservationOf(RankThatUpdates(12 * kMiB), order, kPlenty).update, Bytes());
  EXPECT_EQ(ReservationOf(RankThatUpdates(13 * kMiB), order, kPlenty).update, 14 * kMiB);
}

TEST(RankMemoryTest, OnlyTheFirstMicroBatchMakesGradients) {
  GradientMakers whole(1);
  EXPECT_TRUE(whole.Makes(0, Phase::kBackward));
  EXPECT_FALSE(whole.Makes(0, Phase::kBackward));
  EXPECT_FALSE(whole.Makes(0, Phase::kBackwardWeight));
  GradientMakers split(2);
  EXPECT_TRUE(split.Makes(0, Phase::kBackwardInput));
  EXPECT_FALSE(split.Makes(0, Phase::kBackwardInput));
  EXPECT_TRUE(split.Makes(0, Phase::kBackwardWeight));
  EXPECT_FALSE(split.Makes(0, Phase::kBackwardWeight));
  EXPECT_TRUE(split.Makes(1, Phase::kBackward));
}

// The first backward leaves a gradient of 5 MiB, so that the second micro-batch needs that much
// more than the first.
TEST(RankMemoryTest, GradientsWithoutBuffersAreHeldFromTheFirstBackwardOn) {
  RankTensors rank = TinyRank();
  ChunkTensors chunk = *rank.chunks[0];
  ChunkPass& backward = chunk.passes[static_cast<size_t>(Phase::kBackward)];
  backward.tensors.events.push_back(Event(5 * kMiB, true, 1, TensorRole::kGradient));
  backward.summary.net += 5 * kMiB.count();
  backward.summary.net_gradient = 5 * kMiB.count();
  rank.chunks = {std::make_shared<const ChunkTensors>(chunk)};
  EXPECT_EQ(WalkRank(rank, OneForwardOneBackwardOrder(0, 1)).allocated, 35 * kMiB);
  for (const int micro_batches : {2, 3}) {
    const RankPeak peak = WalkRank(rank, OneForwardOneBackwardOrder(0, micro_batches));
    EXPECT_EQ(peak.allocated, 40 * kMiB);
    EXPECT_EQ(peak.gradients, 5 * kMiB);
    EXPECT_EQ(peak.activations, 4 * kMiB);
  }
}

// Tensors of the two pools share no segment of 20 MiB.
TEST(RankMemoryTest, EveryPoolHasSegmentsOfItsOwn) {
  const PassOrder order = OneForwardOneBackwardOrder(0, 4);
  const auto reserved = [&](TensorPool pool) {
    RankTensors rank = RankThatUpdates(2 * kMiB);
    for (TensorEvent& event : rank.update.tensors.events) event.pool = pool;
    return ReservationOf(rank, order, kPlenty).update;
  };
  EXPECT_EQ(reserved(TensorPool::kCompute), Bytes());
  EXPECT_EQ(reserved(TensorPool::kGather), 20 * kMiB);
}

// The passes reserve 40 MiB. The update takes a segment of 12 for a gather, which is free when 16
// are needed beside the passes' segments. A GPU with room for one of them gives the first back.
TEST(RankMemoryTest, PoolsShareTheGpu) {
  const PassOrder order = OneForwardOneBackwardOrder(0, 4);
  RankTensors rank = RankThatUpdates(12 * kMiB);
  for (TensorEvent& event : rank.update.tensors.events) event.pool = TensorPool::kGather;
  rank.update.tensors.events.push_back(Event(16 * kMiB, true, 1, TensorRole::kWorkspace));
  EXPECT_EQ(ReservationOf(rank, order, kPlenty).update, 28 * kMiB);
  EXPECT_EQ(ReservationOf(rank, order, 56 * kMiB).update, 16 * kMiB);
}

}  // namespace
}  // namespace stagecraft
