#include "sim/pipeline/zero_bubble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "sim/pipeline/order_memory.h"
#include "sim/pipeline/order_times.h"

namespace stagecraft {
namespace {

// Weight gradients hold half of what a forward holds.
constexpr PassMemory kMemory = {2, 1};

std::string Letters(const PassOrder& order) {
  std::string letters;
  for (const Pass& pass : order) {
    letters += pass.phase == Phase::kForward         ? 'F'
               : pass.phase == Phase::kBackwardInput ? 'B'
                                                     : 'W';
  }
  return letters;
}

template <typename Shape>
PassOrders ByStage(Shape shape, int stages, int micro_batches) {
  PassOrders orders;
  for (int s = 0; s < stages; ++s) orders.push_back(shape(s, stages, micro_batches));
  return orders;
}

OrderTimes TimeOfEqualStages(const PassOrders& orders, int micro_batches, const PassTimes& times) {
  const int stages = static_cast<int>(orders.size());
  return TimeOrders(ChunkMap::Looped(stages, 1), orders, micro_batches,
                    UniformCosts(stages, 1, times, Duration()));
}

// Times stages of two chunks, which are half a stage each.
OrderTimes TimeOfV(const PassOrders& orders, int micro_batches, Duration pass) {
  const int stages = static_cast<int>(orders.size());
  return TimeOrders(ChunkMap::Wave(stages, 2), orders, micro_batches,
                    UniformCosts(stages, 2, {pass, pass, pass}, Duration()));
}

int64_t PeakOfV(const PassOrders& orders) {
  const std::vector<PassMemory> memory(2, kMemory);
  int64_t peak = 0;
  for (const PassOrder& order : orders) peak = std::max(peak, PeakMemory(order, memory));
  return peak;
}

TEST(ZeroBubbleTest, H1FillsWaitsOfOneForwardOneBackwardWithWeights) {
  EXPECT_EQ(Letters(ZeroBubbleH1Order(0, 4, 8)), "FFFFBWFBWFBWFBWFBWBWBWBW");
  EXPECT_EQ(Letters(ZeroBubbleH1Order(3, 4, 8)), "FBFBFBFBWFBWFBWFBWFBWWWW");
}

TEST(ZeroBubbleTest, H2WarmsUpTwiceAsLong) {
  EXPECT_EQ(Letters(ZeroBubbleH2Order(0, 4, 8)), "FFFFFFFBFWBWBWBWBWBWBWBW");
  EXPECT_EQ(Letters(ZeroBubbleH2Order(3, 4, 8)), "FBFBFBFBFBFBFBFWBWWWWWWW");
}

TEST(ZeroBubbleTest, HandMadeOrdersTakeThePublishedTime) {
  struct Row {
    int stages, micro_batches;
    Duration h1, h2_stage, h2_global;
  };
  for (const Row& row : {Row{4, 8, 27_us, 24_us, 27_us}, Row{8, 24, 79_us, 72_us, 79_us}}) {
    const PassTimes equal = {1_us, 1_us, 1_us};
    const PassOrders h1 = ByStage(ZeroBubbleH1Order, row.stages, row.micro_batches);
    EXPECT_EQ(TimeOfEqualStages(h1, row.micro_batches, equal).Makespan(), row.h1);
    EXPECT_EQ(TimeOfEqualStages(h1, row.micro_batches, equal).LongestStage(), row.h1);
    EXPECT_EQ(PeakInFlight(h1[0]), row.stages);
    const PassOrders h2 = ByStage(ZeroBubbleH2Order, row.stages, row.micro_batches);
    EXPECT_EQ(TimeOfEqualStages(h2, row.micro_batches, equal).LongestStage(), row.h2_stage);
    EXPECT_EQ(TimeOfEqualStages(h2, row.micro_batches, equal).Makespan(), row.h2_global);
    EXPECT_EQ(PeakInFlight(h2[0]), 2 * row.stages - 1);
  }
}

// Stages idle (p - 1)(F + B - W) and (p - 1)(F + B - 2W).
TEST(ZeroBubbleTest, HandMadeOrdersIdleAsTheClosedFormsSay) {
  const PassTimes times = {10_us, 12_us, 9_us};
  for (const int p : {2, 3, 5, 8}) {
    const int m = 3 * p;
    const Duration work = m * (times.forward + times.Backward());
    const PassOrders h1 = ByStage(ZeroBubbleH1Order, p, m);
    EXPECT_EQ(TimeOfEqualStages(h1, m, times).LongestStage(), work + (p - 1) * 13_us) << p;
    const PassOrders h2 = ByStage(ZeroBubbleH2Order, p, m);
    EXPECT_EQ(TimeOfEqualStages(h2, m, times).LongestStage(), work + (p - 1) * 4_us) << p;
  }
}

TEST(ZeroBubbleTest, HandMadeOrdersHoldWhatTheyPromise) {
  for (const int p : {1, 2, 4, 7}) {
    for (const int m : {1, 3, 4, 20}) {
      for (int s = 0; s < p; ++s) {
        EXPECT_LE(PeakMemory(ZeroBubbleH1Order(s, p, m), {{kMemory}}), 2 * p);
        EXPECT_LE(PeakMemory(ZeroBubbleH2Order(s, p, m), {{kMemory}}), 4 * p);
      }
    }
  }
}

TEST(ZeroBubbleTest, ALimitBelowOneMicroBatchIsRefused) {
  const PipelineCosts costs = UniformCosts(2, 1, {1_us, 1_us, 1_us}, 0_us);
  const std::vector<PassMemory> memory(2, kMemory);
  const std::vector<int64_t> limits = {2, 1};
  try {
    AutomaticZeroBubbleOrders(costs, 4, memory, limits);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "zero-bubble schedule: memory limit of stage 1: got 1, want at least 2, what one "
                 "micro-batch needs");
  }
}

// The first stage holds one micro-batch at a time, so nothing overlaps.
TEST(ZeroBubbleTest, AStageThatHoldsOneMicroBatchHoldsUpAll) {
  const PipelineCosts costs = UniformCosts(2, 1, {1_us, 1_us, 1_us}, 0_us);
  const std::vector<PassMemory> memory(2, kMemory);
  const std::vector<int64_t> limits = {2, 8};
  const PassOrders orders = AutomaticZeroBubbleOrders(costs, 3, memory, limits);
  EXPECT_EQ(Letters(orders[0]), "FBWFBWFBW");
  EXPECT_EQ(TimeOfEqualStages(orders, 3, {1_us, 1_us, 1_us}).Makespan(), 15_us);
}

TEST(ZeroBubbleTest, MoreMemoryThanNeededIsLeftFree) {
  const PipelineCosts costs = UniformCosts(4, 1, {1_us, 1_us, 1_us}, 0_us);
  const std::vector<PassMemory> memory(4, kMemory);
  const std::vector<int64_t> limits(4, std::numeric_limits<int64_t>::max());
  const PassOrders orders = AutomaticZeroBubbleOrders(costs, 40, memory, limits);
  EXPECT_EQ(TimeOfEqualStages(orders, 40, {1_us, 1_us, 1_us}).LongestStage(), 120_us);
  for (const PassOrder& order : orders) EXPECT_LE(PeakMemory(order, {{kMemory}}), 2 * 8);
}

TEST(ZeroBubbleTest, VIdlesNowhereInTheMemoryOfOneForwardOneBackward) {
  struct Row {
    int stages, micro_batches;
    Duration stage, global;
  };
  for (const Row& row : {Row{4, 8, 24_us, 25500_ns}, Row{8, 24, 72_us, 75500_ns}}) {
    const PipelineCosts costs = UniformCosts(row.stages, 2, {500_ns, 500_ns, 500_ns}, 0_us);
    const PassOrders orders = ZeroBubbleVOrders(costs, row.micro_batches, kMemory);
    EXPECT_EQ(TimeOfV(orders, row.micro_batches, 500_ns).LongestStage(), row.stage);
    EXPECT_EQ(TimeOfV(orders, row.micro_batches, 500_ns).Makespan(), row.global);
    EXPECT_EQ(PeakOfV(orders), 2 * 2 * row.stages);  // p micro-batches of two chunks
  }
}

// In comparison, 1F1B holds p micro-batches of two chunks and idles for the time of 6(p - 1)
// passes.
TEST(ZeroBubbleTest, VHalfAndVMinTradeBubblesForMemory) {
  for (const int p : {4, 8, 16, 24}) {
    const int m = 6 * p;
    const PassOrders half = VHalfOrders(p, m);
    EXPECT_EQ(PeakOfV(half), 4 * (p / 2 + 1)) << p;
    const Duration half_bubble = TimeOfV(half, m, 1_us).LongestStage() - 6 * m * 1_us;
    EXPECT_NEAR(half_bubble.us() / (6 * (p - 1)), 1. / 2, 0.04) << p;
    const PassOrders least = VMinOrders(p, m);
    EXPECT_LE(PeakOfV(least), 4 * (p / 3. + 1)) << p;
    const Duration least_bubble = TimeOfV(least, m, 1_us).LongestStage() - 6 * m * 1_us;
    EXPECT_NEAR(least_bubble.us() / (6 * (p - 1)), 2. / 3, 0.06) << p;
  }
}

}  // namespace
}  // namespace stagecraft
