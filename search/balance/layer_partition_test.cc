#include "search/balance/layer_partition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/balance/drawn_balance.h"
#include "search/partition/chain_cuts.h"

namespace stagecraft {
namespace {

// The best division is [1 3 2 | 5].
TEST(LayerPartitionTest, TheSlowestOfTwoStagesIsAsFastAsPossible) {
  const BalanceProblem problem{.loads = {1, 3, 2, 5}, .speeds = {1, 1}};
  EXPECT_EQ(PartitionLayers(problem), (Division{3, 1}));
}

// A stage of half the speed takes half of the layers of the other.
TEST(LayerPartitionTest, ASlowStageGetsFewerLayers) {
  const BalanceProblem problem{.loads = {1, 1, 1, 1, 1, 1}, .speeds = {0.5, 1}};
  EXPECT_EQ(PartitionLayers(problem), (Division{2, 4}));
}

TEST(LayerPartitionTest, FewerLayersThanStagesAreAnError) {
  EXPECT_THROW(PartitionLayers({.loads = {1}, .speeds = {1, 1}}), InputError);
}

// [1 1 | 1 1 4 | 6], [1 1 1 | 1 4 | 6] and [1 1 1 1 | 4 | 6] are as fast as the last layer allows.
TEST(LayerPartitionTest, OfEquallyFastDivisionsItIsTheOneNearestToThePresent) {
  const BalanceProblem problem{.loads = {1, 1, 1, 1, 4, 6}, .speeds = {1, 1, 1}};
  EXPECT_EQ(PartitionLayers(problem, {1, 4, 1}), (Division{2, 3, 1}));
  EXPECT_EQ(PartitionLayers(problem, {3, 2, 1}), (Division{3, 2, 1}));
  EXPECT_EQ(PartitionLayers(problem, {4, 1, 1}), (Division{4, 1, 1}));
}

// The times of the stages are adjacent numbers, whose mean is rounded to the larger one.
TEST(LayerPartitionTest, TimesThatDifferInTheirLastBitAreToldApart) {
  const BalanceProblem problem{.loads = {1, 1}, .speeds = {std::nextafter(0.75, 0.0), 0.75}};
  EXPECT_EQ(PartitionLayers(problem), (Division{1, 1}));
}

TEST(LayerPartitionTest, LayersWithoutLoadAreDividedToo) {
  const BalanceProblem problem{.loads = {0, 0, 0, 0, 0}, .speeds = {1, 1, 1}};
  const Division division = *PartitionLayers(problem);
  EXPECT_EQ(division.size(), 3u);
  EXPECT_EQ(std::accumulate(division.begin(), division.end(), 0), 5);
  EXPECT_EQ(PartitionLayers(problem, {1, 1, 3}), (Division{1, 1, 3}));
}

// The second stage cannot hold the layer of 9 bytes, so it gets the one before it.
TEST(LayerPartitionTest, MemoryComesFirst) {
  BalanceProblem problem{.loads = {1, 1, 1, 1},
                         .speeds = {1, 1, 1},
                         .layer_memory = {Bytes(1), Bytes(1), Bytes(9), Bytes(9)},
                         .stage_limits = {Bytes(4), Bytes(4), Bytes(18)}};
  EXPECT_EQ(PartitionLayers(problem), (Division{1, 1, 2}));
  problem.stage_limits[2] = Bytes(17);
  EXPECT_FALSE(PartitionLayers(problem).has_value());
}

// Stage 1 can only begin with layer 1 or 3 if it is to take its first layer alone: the furthest
// that stage 0 gets, layer 2, leads nowhere.
TEST(LayerPartitionTest, TheFirstStageStopsEarlierIfTheNextCannotTakeWhatFollows) {
  const BalanceProblem problem{.loads = {1, 1, 9, 1, 1}, .speeds = {1, 0.5, 9}};
  EXPECT_EQ(*PartitionLayers(problem), (Division{1, 1, 3}));
}

TEST(LayerPartitionTest, ALimitIsMetExactlyIfItIsAtLeastTheOptimum) {
  const BalanceProblem problem = DrawBalanceProblem(5);
  const double least = SlowestLoad(problem, *PartitionLayers(problem));
  EXPECT_TRUE(DivideWithin(problem, least).has_value());
  EXPECT_FALSE(DivideWithin(problem, least * (1 - 1e-15)).has_value());
}

TEST(LayerPartitionTest, IsOptimalOnAThousandInstances) {
  for (int seed = 0; seed < 1000; ++seed) {
    const BalanceProblem problem = DrawBalanceProblem(seed);
    const Division division = *PartitionLayers(problem);
    CheckDivision(problem, division);
    const double least = LeastSlowest(problem);
    EXPECT_NEAR(SlowestLoad(problem, division), least, 1e-12 * least) << "seed " << seed;
  }
}

// Loads are small whole numbers, often 0, speeds are unequal and memory is tight.
BalanceProblem DrawTight(int seed) {
  Random random(seed);
  const auto layers = static_cast<int>(random.Integer(1, 9));
  const auto stages = static_cast<int>(random.Integer(1, layers));
  BalanceProblem problem;
  for (int layer = 0; layer < layers; ++layer) {
    problem.loads.push_back(static_cast<double>(random.Integer(0, 4)));
    problem.layer_memory.push_back(Bytes(random.Integer(0, 5)));
  }
  problem.speeds.assign(stages, 1.0);
  SlowSome(problem, random);
  for (int stage = 0; stage < stages; ++stage) {
    problem.stage_limits.push_back(Bytes(random.Integer(2, 20)));
  }
  return problem;
}

TEST(LayerPartitionTest, IsOptimalWithUnequalSpeedsAndTightMemory) {
  int fitting = 0;
  for (int seed = 0; seed < 5000; ++seed) {
    const BalanceProblem problem = DrawTight(seed);
    const std::optional<Division> division = PartitionLayers(problem);
    const double least = LeastSlowest(problem);
    ASSERT_EQ(division.has_value(), std::isfinite(least)) << "seed " << seed;
    if (!division) continue;
    ++fitting;
    CheckDivision(problem, *division);
    EXPECT_TRUE(FitsMemory(problem, *division)) << "seed " << seed;
    EXPECT_NEAR(SlowestLoad(problem, *division), least, 1e-12 * least) << "seed " << seed;
  }
  EXPECT_GT(fitting, 1000);
  EXPECT_LT(fitting, 4000);
}

// With two micro-batches and free cuts, the cost of chain cuts is the slowest stage.
TEST(LayerPartitionTest, AgreesWithTheCutsOfChains) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    const auto layers = static_cast<int>(random.Integer(2, 30));
    const auto stages = static_cast<int>(random.Integer(1, layers));
    ChainProblem chain{{}, {}, stages, 2};
    BalanceProblem problem;
    for (int layer = 0; layer < layers; ++layer) {
      chain.layer_time.push_back(random.Integer(0, 99));
      problem.loads.push_back(static_cast<double>(chain.layer_time.back()));
    }
    chain.cut_time.assign(layers, std::vector<int64_t>(stages, 0));
    problem.speeds.assign(stages, 1.0);
    EXPECT_EQ(SlowestLoad(problem, *PartitionLayers(problem)),
              static_cast<double>(SolveChainCuts(chain)->cost))
        << "round " << round;
  }
}

}  // namespace
}  // namespace stagecraft
