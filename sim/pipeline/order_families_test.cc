#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/pipeline/chimera.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/dual_pipe.h"
#include "sim/pipeline/order_testing.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

constexpr int kTrials = 100;

// "F0.1" is the forward of micro-batch 1 through chunk 0; '&' joins passes that run beside each
// other.
std::string Text(const PassOrder& order) {
  std::string text;
  for (const Pass& pass : order) {
    text += pass.phase == Phase::kForward         ? 'F'
            : pass.phase == Phase::kBackward      ? 'B'
            : pass.phase == Phase::kBackwardInput ? 'I'
                                                  : 'W';
    text += std::to_string(pass.chunk) + "." + std::to_string(pass.micro_batch);
    text += pass.beside_next ? '&' : ' ';
  }
  return text;
}

TEST(OrderFamiliesTest, BreadthFirstTurnsBackAtTheEnd) {
  EXPECT_EQ(Text(BreadthFirstOrder(2, 2)), "F0.0 F0.1 F1.0 F1.1 B1.1 B1.0 B0.1 B0.0 ");
}

TEST(OrderFamiliesTest, DapplesPolicyBWarmsUpTwiceAsFar) {
  EXPECT_EQ(DappleWarmup(0, 4, 100, WarmupPolicy::kA), 3);
  EXPECT_EQ(DappleWarmup(0, 4, 100, WarmupPolicy::kB), 6);
  EXPECT_EQ(DappleWarmup(1, 4, 100, WarmupPolicy::kB), 4);
  EXPECT_EQ(DappleWarmup(3, 4, 100, WarmupPolicy::kB), 0);
  EXPECT_EQ(DappleWarmup(0, 4, 2, WarmupPolicy::kB), 1);
}

PassOrders FlushOrders(int stages, int micro_batches, int most, WarmupPolicy policy) {
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    orders.push_back(
        OneForwardOneBackwardOrder(DappleWarmup(stage, stages, most, policy), micro_batches));
  }
  return orders;
}

// If transfers take as long as passes, policy A waits for them in every round.
TEST(OrderFamiliesTest, DapplesPolicyBHidesTransfers) {
  const ChunkMap map = ChunkMap::Looped(4, 1);
  const PipelineCosts costs = UniformCosts(4, 1, {1_us, 1_us, 0_us}, 1_us);
  const auto time = [&](WarmupPolicy policy) {
    return TimeOrders(map, FlushOrders(4, 32, 32, policy), 32, costs).Makespan();
  };
  EXPECT_LT(time(WarmupPolicy::kB), time(WarmupPolicy::kA));
}

std::string Forwards(PassOrder order) {
  std::erase_if(order, [](const Pass& pass) { return pass.phase != Phase::kForward; });
  return Text(order);
}

// Megatron-core's own example: two stages and five micro-batches in groups of three.
TEST(OrderFamiliesTest, MegatronCoreInterleavesGroupsOfAnySize) {
  const PassOrder order = InterleavedOrder(1, 2, 2, 5, MicroBatchGroups{3});
  EXPECT_EQ(Forwards(order), "F0.0 F0.1 F0.2 F1.0 F1.1 F1.2 F0.3 F0.4 F1.3 F1.4 ");
  EXPECT_EQ(order[4], (Pass{Phase::kBackward, 1, 0}));
  EXPECT_EQ(InterleavedOrder(1, 2, 2, 5, MicroBatchGroups{3, true})[5],
            (Pass{Phase::kBackward, 1, 0}));
}

// Groups of 2 and 3, not of 2, 2 and 1.
TEST(OrderFamiliesTest, ALastGroupTooSmallJoinsTheOneBefore) {
  EXPECT_EQ(Forwards(InterleavedOrder(0, 2, 2, 5, MicroBatchGroups{2})),
            "F0.0 F0.1 F1.0 F1.1 F0.2 F0.3 F0.4 F1.2 F1.3 F1.4 ");
}

PassOrders InterleavedOrders(int stages, int chunks, int micro_batches,
                             const MicroBatchGroups& groups) {
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    orders.push_back(InterleavedOrder(stage, stages, chunks, micro_batches, groups));
  }
  return orders;
}

TEST(OrderFamiliesTest, GroupsOfAnySizeWaitAsLongAsAnOrdinaryInterleaving) {
  for (const auto& [micro_batches, size] : {std::pair{16, 8}, {17, 8}, {20, 8}, {36, 12}}) {
    const PassOrders orders = InterleavedOrders(8, 4, micro_batches, MicroBatchGroups{size});
    const OrderTimes times = TimeOrders(ChunkMap::Looped(8, 4), orders, micro_batches,
                                        UniformCosts(8, 4, {1_us, 1_us, 1_us}, 0_us));
    EXPECT_EQ(times.Makespan(), (4 * micro_batches + 7) * 3_us) << micro_batches;
  }
}

TEST(OrderFamiliesTest, DualPipeOfTwoStagesNeverWaitsForWeightGradients) {
  EXPECT_EQ(Text(DualPipeOrders(2, 4)[0]), "F0.0 F1.0 F0.1 B1.0 F1.1&B0.0 B1.1 I0.1 W0.1 ");
}

// A stage waits (h - 1)(F&B + B - 3W), and 2 h + 1 passes are in flight.
TEST(OrderFamiliesTest, DualPipeVWaitsAndHoldsAsDocumented) {
  for (const int stages : {2, 4, 8}) {
    const int micro_batches = 2 * stages + 3;
    const PassOrders orders = DualPipeVOrders(stages, micro_batches);
    const OrderTimes times = TimeOrders(ChunkMap::Wave(stages, 2), orders, micro_batches,
                                        UniformCosts(stages, 2, {1_us, 1_us, 1_us}, 0_us));
    EXPECT_EQ(times.Makespan(), 2 * micro_batches * 3_us + (stages - 1) * 2_us);
    for (const PassOrder& order : orders) EXPECT_EQ(PeakInFlight(order), 2 * stages + 1);
  }
}

PassOrders PairedOrders(int stages, int micro_batches) {
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) {
    orders.push_back(PairedOneForwardOneBackwardOrder(stage, stages, micro_batches));
  }
  return orders;
}

TEST(OrderFamiliesTest, PairsOfOneForwardAndOneBackwardAreInterleavedWithASingleChunk) {
  EXPECT_EQ(Text(PairedOneForwardOneBackwardOrder(0, 2, 5)),
            "F0.0 F0.1 F0.2 F0.3&B0.0 F0.4&B0.1 B0.2 B0.3 B0.4 ");
  const MicroBatchGroups pairs{.size = 8, .one_more_warmup = true, .pairs_passes = true};
  for (const int stages : {1, 2, 4, 8}) {
    for (const int micro_batches : {1, 2, 5, 8, 16, 17, 64}) {
      EXPECT_EQ(PairedOrders(stages, micro_batches),
                InterleavedOrders(stages, 1, micro_batches, pairs));
    }
  }
}

// Even if a pair takes as long as its passes one after the other, nothing waits for longer.
TEST(OrderFamiliesTest, PairsTakeNoLongerThanPassesOneByOne) {
  for (const int stages : {1, 2, 4, 8, 16}) {
    for (const int micro_batches : {1, 2, 4, 8, 16, 32, 64}) {
      for (const Duration transfer : {0_us, 1_us, 10_us}) {
        const ChunkMap map = ChunkMap::Looped(stages, 1);
        PipelineCosts costs = UniformCosts(stages, 1, {10_us, 10_us, 10_us}, transfer);
        const auto time = [&](const PassOrders& orders) {
          return TimeOrders(map, orders, micro_batches, costs).Makespan();
        };
        const PassOrders one_by_one =
            FlushOrders(stages, micro_batches, micro_batches, WarmupPolicy::kA);
        const Duration usual = time(one_by_one);
        EXPECT_LE(time(PairedOrders(stages, micro_batches)), usual)
            << stages << " stages, " << micro_batches << " micro-batches";
        costs.beside_share = 0.8;
        if (micro_batches > 1) {
          EXPECT_LT(time(PairedOrders(stages, micro_batches)), usual);
        }
      }
    }
  }
}

// F0 and F1 of the pipeline down are in slots 0 and 2, those of the pipeline up in 3 and 5; the
// last part starts the backward at once.
TEST(OrderFamiliesTest, ChimeraOfFourStagesIsThePapersFirstExample) {
  const PassOrders orders = ChimeraOrders(4, 1, 4);
  EXPECT_EQ(Text(orders[0]), "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 B0.0 B0.1 ");
  const int in_flight[] = {3, 4, 4, 3};
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(PeakInFlight(orders[stage]), in_flight[stage]);
  }
}

Duration ChimeraTime(int stages, int pairs, int micro_batches, ChimeraSlots slots,
                     const PassTimes& times) {
  const PassOrders orders = ChimeraOrders(stages, pairs, micro_batches, slots);
  return TimeOrders(ChunkMap::Bidirectional(stages, pairs), orders, micro_batches,
                    UniformCosts(stages, 2 * pairs, times, 0_us))
      .Makespan();
}

// A stage waits D / pairs - 2 slots, however many units follow one another.
TEST(OrderFamiliesTest, ChimeraWaitsOnceForAllUnits) {
  for (const auto& [stages, pairs] : {std::pair{4, 1}, {8, 1}, {8, 2}, {8, 4}, {12, 3}, {16, 2}}) {
    for (const int units : {1, 2, 5}) {
      const int micro_batches = stages * units;
      EXPECT_EQ(
          ChimeraTime(stages, pairs, micro_batches, ChimeraSlots::kOnePass, {1_us, 1_us, 0_us}),
          (2 * micro_batches + stages / pairs - 2) * 1_us);
      // The output of the first of two forwards is handed on before the slot ends.
      const Duration two = ChimeraTime(stages, pairs, 2 * micro_batches, ChimeraSlots::kTwoForwards,
                                       {1_us, 1_us, 1_us});
      EXPECT_LE(two, (3 * micro_batches + stages / pairs - 2) * 2_us);
    }
  }
}

TEST(OrderFamiliesTest, TwoForwardsToABackwardPayWhereBackwardsTakeTwiceAsLong) {
  const PassTimes times{1_us, 1_us, 1_us};
  EXPECT_EQ(ChimeraTime(8, 1, 64, ChimeraSlots::kOnePass, times), 246_us);
  EXPECT_EQ(ChimeraTime(8, 1, 64, ChimeraSlots::kTwoForwards, times), 201_us);
}

struct Shape {
  int stages, chunks, micro_batches;
};

Shape RandomShape(Random& random) {
  Shape shape{};
  shape.stages = static_cast<int>(random.Integer(1, 9));
  shape.chunks = static_cast<int>(random.Integer(1, 4));
  shape.micro_batches = static_cast<int>(random.Integer(1, 40));
  return shape;
}

TEST(OrderFamiliesTest, OrdersOfOneDirectionKeepEveryRule) {
  for (int trial = 0; trial < kTrials; ++trial) {
    SCOPED_TRACE(trial);
    Random random = Random(1).Child("one direction", trial);
    const auto [p, v, m] = RandomShape(random);
    const PipelineCosts costs = RandomCosts(ChunkMap::Looped(p, v), random);
    CheckOrders(ChunkMap::Looped(p, 1), PassOrders(p, GpipeOrder(m)), m, costs, m);
    const int most = static_cast<int>(random.Integer(1, 2 * p));
    for (const WarmupPolicy policy : {WarmupPolicy::kA, WarmupPolicy::kB}) {
      CheckOrders(ChunkMap::Looped(p, 1), FlushOrders(p, m, most, policy), m, costs, most);
    }
    CheckOrders(ChunkMap::Looped(p, 1), PairedOrders(p, m), m, costs, std::min(2 * p, m));
    CheckOrders(ChunkMap::Looped(p, v), PassOrders(p, BreadthFirstOrder(v, m)), m, costs, v * m);
    CheckOrders(ChunkMap::Wave(p, v), PassOrders(p, BreadthFirstOrder(v, m)), m, costs, v * m);
    MicroBatchGroups groups{static_cast<int>(random.Integer(p, 3 * p))};
    groups.one_more_warmup = random.Integer(0, 1) == 1;
    groups.pairs_passes = groups.one_more_warmup && random.Integer(0, 1) == 1;
    const int largest = std::min(m, groups.size + p - 1);
    CheckOrders(ChunkMap::Looped(p, v), InterleavedOrders(p, v, m, groups), m, costs,
                std::min(2 * (p - 1) + (v - 1) * largest + 2, v * m));
  }
}

TEST(OrderFamiliesTest, OrdersOfTwoDirectionsKeepEveryRule) {
  for (int trial = 0; trial < kTrials; ++trial) {
    SCOPED_TRACE(trial);
    Random random = Random(1).Child("two directions", trial);
    const int pairs = static_cast<int>(random.Integer(1, 3));
    const int stages = 2 * pairs * static_cast<int>(random.Integer(1, 5));
    const int m = static_cast<int>(random.Integer(1, 5 * stages));
    const ChunkMap map = ChunkMap::Bidirectional(stages, pairs);
    const PipelineCosts costs = RandomCosts(map, random);
    CheckOrders(map, ChimeraOrders(stages, pairs, m), m, costs, stages);
    CheckOrders(map, ChimeraOrders(stages, pairs, m, ChimeraSlots::kTwoForwards), m, costs,
                2 * stages);
    const int more = static_cast<int>(random.Integer(0, 20));
    const ChunkMap two = ChunkMap::Bidirectional(stages);
    CheckOrders(two, DualPipeOrders(stages, 2 * stages + 2 * more), 2 * stages + 2 * more, costs,
                stages + 1);
    CheckOrders(ChunkMap::Wave(stages, 2), DualPipeVOrders(stages, 2 * stages + more),
                2 * stages + more, costs, 2 * stages + 1);
  }
}

}  // namespace
}  // namespace stagecraft
