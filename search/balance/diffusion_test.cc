#include "search/balance/diffusion.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "costmodel/statistics.h"
#include "costmodel/units.h"
#include "search/balance/drawn_balance.h"

namespace stagecraft {
namespace {

double Largest(const BalanceProblem& problem) {
  return *std::max_element(problem.loads.begin(), problem.loads.end());
}

// The change is from [3 3 | 1 1] to [3 | 3 1 1].
TEST(DiffusionTest, ALayerGoesToTheNeighbourWithLess) {
  const BalanceProblem problem{.loads = {3, 3, 1, 1}, .speeds = {1, 1}};
  const DiffusionResult result = Diffuse(problem, {2, 2});
  EXPECT_EQ(result.division, (Division{1, 3}));
  EXPECT_EQ(result.messages, 2 * result.rounds);
}

// Loads 6 and 2 differ by 4, by a third of that after each round, and must differ by less than
// 0.1 % / 2 of their average: 4 / 3^7 < 0.002. Before that, there are 2 rounds of sums; after it, 2
// until both know that nothing flows. A layer crosses in the first of 4 rounds, and in 3 rounds no
// exchange helps: both know that when, for as many rounds as there are stages, neither this round
// nor the one before saw a crossing.
TEST(DiffusionTest, RoundsAreCountedInAllPhases) {
  const BalanceProblem problem{.loads = {3, 3, 1, 1}, .speeds = {1, 1}};
  const DiffusionResult result = Diffuse(problem, {2, 2});
  EXPECT_EQ(result.flow_rounds, 7);
  EXPECT_EQ(LevelRounds(2), 7);
  EXPECT_EQ(result.rounds, 2 + (7 + 2) + 4 + 3);
}

TEST(DiffusionTest, OneStageHasNobodyToAsk) {
  const DiffusionResult result = Diffuse({.loads = {1, 2}, .speeds = {1}}, {2});
  EXPECT_EQ(result.division, (Division{2}));
  EXPECT_EQ(result.messages, 0);
}

TEST(DiffusionTest, NothingMovesWithoutLoadsOrBetweenEqualStages) {
  EXPECT_EQ(Diffuse({.loads = {0, 0, 0, 0}, .speeds = {1, 1}}, {1, 3}).division, (Division{1, 3}));
  EXPECT_EQ(Diffuse({.loads = {2, 1, 1, 2}, .speeds = {1, 1, 1}}, {1, 2, 1}).division,
            (Division{1, 2, 1}));
}

// A layer crosses several stages, and those without load on its way do not hold it up.
TEST(DiffusionTest, LayersCrossManyStages) {
  const BalanceProblem problem{.loads = {4, 4, 0, 4, 4, 0, 0, 0}, .speeds = {1, 1, 1, 1}};
  const Division division = Diffuse(problem, {5, 1, 1, 1}).division;
  EXPECT_EQ(SlowestLoad(problem, division), 4);
}

TEST(DiffusionTest, NoStageExceedsItsMemory) {
  BalanceProblem problem{.loads = {1, 1, 1, 1, 1, 1},
                         .speeds = {1, 1},
                         .layer_memory = std::vector<Bytes>(6, Bytes(1)),
                         .stage_limits = {Bytes(5), Bytes(5)}};
  EXPECT_EQ(Diffuse(problem, {5, 1}).division, (Division{3, 3}));
  problem.stage_limits[1] = Bytes(2);
  EXPECT_EQ(Diffuse(problem, {5, 1}).division, (Division{4, 2}));
}

TEST(DiffusionTest, BadInputIsRefused) {
  EXPECT_THROW(Diffuse({.loads = {1}, .speeds = {1, 1}}, {1, 0}), InputError);
  EXPECT_THROW(Diffuse({.loads = {1, 1}, .speeds = {1, 1}}, {2, 0}), InputError);
}

// Also records how far the results are from the optimum.
TEST(DiffusionTest, AThousandInstancesAreWithinTheirBounds) {
  std::vector<double> ratios;
  for (int seed = 0; seed < 1000; ++seed) {
    const BalanceProblem problem = DrawBalanceProblem(seed);
    const Division present = UniformDivision(problem.layers(), problem.stages());
    const DiffusionResult result = Diffuse(problem, present);
    CheckDivision(problem, result.division);
    const double slowest = SlowestLoad(problem, result.division);
    EXPECT_LE(slowest, FluidLoad(problem) + Largest(problem)) << "seed " << seed;
    EXPECT_TRUE(result.has_settled);
    EXPECT_LE(result.flow_rounds, LevelRounds(problem.stages())) << "seed " << seed;
    ratios.push_back(slowest / LeastSlowest(problem));
  }
  EXPECT_GE(NearestRankQuantile(ratios, 0), 1 - 1e-12);
  EXPECT_LE(NearestRankQuantile(ratios, 0.5), 1.02);
  EXPECT_LE(NearestRankQuantile(ratios, 0.9), 1.15);
  fmt::print("diffusion over optimum: median {:.4f}, 90th percentile {:.4f}, worst {:.4f}\n",
             NearestRankQuantile(ratios, 0.5), NearestRankQuantile(ratios, 0.9),
             NearestRankQuantile(ratios, 1));
}

TEST(DiffusionTest, UnequalSpeedsAreWithinTheirBound) {
  for (int seed = 0; seed < 300; ++seed) {
    BalanceProblem problem = DrawBalanceProblem(seed);
    Random random = Random(seed).Child("speeds", 0);
    SlowSome(problem, random);
    const double slowest_speed = *std::min_element(problem.speeds.begin(), problem.speeds.end());
    const Division present = UniformDivision(problem.layers(), problem.stages());
    const DiffusionResult result = Diffuse(problem, present);
    EXPECT_LE(SlowestLoad(problem, result.division),
              1.001 * FluidLoad(problem) + Largest(problem) / slowest_speed)
        << "seed " << seed;
    EXPECT_LE(static_cast<double>(result.flow_rounds),
              2.0 * static_cast<double>(LevelRounds(problem.stages())) / slowest_speed)
        << "seed " << seed;
  }
}

TEST(DiffusionTest, TheOrderOfDeliveryChangesNothing) {
  for (int seed = 0; seed < 100; ++seed) {
    BalanceProblem problem = DrawBalanceProblem(seed);
    Random random = Random(seed).Child("speeds", 0);
    if (seed % 2 == 1) SlowSome(problem, random);
    const Division present = UniformDivision(problem.layers(), problem.stages());
    const DiffusionResult in_order = Diffuse(problem, present);
    for (uint64_t order = 1; order <= 3; ++order) {
      const DiffusionResult drawn = Diffuse(problem, present, {.delivery_seed = order});
      EXPECT_EQ(drawn.division, in_order.division) << "seed " << seed;
      EXPECT_EQ(drawn.rounds, in_order.rounds) << "seed " << seed;
      EXPECT_EQ(drawn.flow_rounds, in_order.flow_rounds) << "seed " << seed;
    }
  }
}

TEST(DiffusionTest, FlowsOnPathsAreThoseOfTheActors) {
  for (int seed = 0; seed < 400; ++seed) {
    BalanceProblem problem = DrawBalanceProblem(seed / 2);
    Random random = Random(seed).Child("speeds", 0);
    if (seed % 2 == 1) SlowSome(problem, random);
    if (seed % 8 == 7) problem.speeds[0] = 0.001;
    const Division present = UniformDivision(problem.layers(), problem.stages());
    const DiffusionResult actors = Diffuse(problem, present);
    const DiffusionResult closed = Diffuse(problem, present, {.most_flow_actors = 0});
    EXPECT_EQ(closed.division, actors.division) << "seed " << seed;
    EXPECT_EQ(closed.flow_rounds, actors.flow_rounds) << "seed " << seed;
    EXPECT_EQ(closed.rounds, actors.rounds) << "seed " << seed;
  }
}

TEST(DiffusionTest, ManyStagesAreWithinTheBoundToo) {
  Random random(3);
  BalanceProblem problem;
  problem.loads = DrawLoads(LoadKind::kRandom, 2000, random);
  problem.speeds.assign(200, 1.0);
  const DiffusionResult result = Diffuse(problem, UniformDivision(2000, 200));
  EXPECT_LE(SlowestLoad(problem, result.division), FluidLoad(problem) + Largest(problem));
  EXPECT_LE(result.flow_rounds, LevelRounds(200));
  SlowSome(problem, random);
  const DiffusionResult unlike = Diffuse(problem, UniformDivision(2000, 200));
  EXPECT_TRUE(unlike.has_settled);
  const double least = *std::min_element(problem.speeds.begin(), problem.speeds.end());
  EXPECT_LT(least, 1);
  EXPECT_LE(SlowestLoad(problem, unlike.division),
            1.001 * FluidLoad(problem) + Largest(problem) / least);
  // With speeds a thousandfold apart it takes longer than anyone waits for.
  problem.speeds.assign(200, 1.0);
  for (int stage = 0; stage < 200; stage += 7) problem.speeds[stage] = 1e-5;
  EXPECT_FALSE(Diffuse(problem, UniformDivision(2000, 200)).has_settled);
}

}  // namespace
}  // namespace stagecraft
