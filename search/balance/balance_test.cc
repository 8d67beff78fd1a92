#include "search/balance/balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/balance/drawn_balance.h"

namespace stagecraft {
namespace {

constexpr Balancer kBoth[] = {Balancer::kPartition, Balancer::kDiffusion};

BalanceDecision Decide(Balancer balancer, const BalanceProblem& problem) {
  return DecideBalance({balancer, problem, UniformDivision(problem.layers(), problem.stages())});
}

// The change is from [3 3 | 1 1] to [3 | 3 1 1].
TEST(BalanceTest, MovesALayerIfTheSlowestStageGains) {
  const BalanceProblem problem{.loads = {3, 3, 1, 1}, .speeds = {1, 1}};
  for (const Balancer balancer : kBoth) {
    const BalanceDecision decision = Decide(balancer, problem);
    EXPECT_EQ(decision.division, (Division{1, 3}));
    EXPECT_EQ(decision.present_load, 6);
    EXPECT_EQ(decision.new_load, 5);
    EXPECT_EQ(decision.reason, "the slowest stage takes 16.7 % less");
    EXPECT_EQ(decision.messages > 0, balancer == Balancer::kDiffusion);
  }
}

TEST(BalanceTest, NoBalancerMovesNothing) {
  const BalanceDecision decision =
      Decide(Balancer::kNone, {.loads = {3, 3, 1, 1}, .speeds = {1, 1}});
  EXPECT_FALSE(decision.division.has_value());
  EXPECT_EQ(decision.reason, "no balancer is chosen");
  EXPECT_EQ(decision.new_load, 6);
}

TEST(BalanceTest, NamesReadBack) {
  for (const Balancer balancer : {Balancer::kNone, Balancer::kPartition, Balancer::kDiffusion}) {
    EXPECT_EQ(BalancerNamed(NameOf(balancer)), balancer);
  }
  EXPECT_FALSE(BalancerNamed("param").has_value());
}

TEST(BalanceTest, BadRequestsAreRefused) {
  EXPECT_THROW(DecideBalance({Balancer::kNone, {.loads = {1}, .speeds = {1, 1}}, {1, 0}}),
               InputError);
}

// The faster division [1 3] does not fit.
TEST(BalanceTest, MemoryMayForbidAndMayDemandAMove) {
  BalanceProblem problem{.loads = {3, 3, 1, 1},
                         .speeds = {1, 1},
                         .layer_memory = std::vector<Bytes>(4, Bytes(1)),
                         .stage_limits = {Bytes(3), Bytes(2)}};
  for (const Balancer balancer : kBoth) {
    EXPECT_FALSE(Decide(balancer, problem).division.has_value());
  }
  problem.stage_limits = {Bytes(3), Bytes(1)};
  const BalanceDecision decision = Decide(Balancer::kPartition, problem);
  EXPECT_EQ(decision.division, (Division{3, 1}));
  EXPECT_EQ(decision.new_load, 7);
  EXPECT_EQ(decision.reason, "the present division does not fit the memory of the stages");
  problem.stage_limits = {Bytes(2), Bytes(1)};
  EXPECT_EQ(Decide(Balancer::kPartition, problem).reason,
            "partition finds no division that fits the memory of the stages");
}

TEST(BalanceTest, AChangeIsWorthItsCostOnlyIfItLastsLongEnough) {
  EXPECT_TRUE(WorthIt(10_ms, 101, 1000_ms));
  EXPECT_FALSE(WorthIt(10_ms, 100, 1000_ms));
  EXPECT_FALSE(WorthIt(0_ms, 1000000, 0_ms));
}

// Every other of 24 blocks sees 12.5 % of the tokens. As there are 12 full blocks on 8 stages, some
// stage has two of them with a light one between: the load of the slowest stage is 2.125 at least,
// and equal stages have it already.
TEST(BalanceOracleTest, MixtureOfDepthsIsBalancedAsItIs) {
  BalanceProblem problem;
  for (int block = 0; block < 24; ++block) problem.loads.push_back(block % 2 == 0 ? 1 : 0.125);
  problem.speeds.assign(8, 1.0);
  for (const Balancer balancer : kBoth) {
    const BalanceDecision decision = Decide(balancer, problem);
    EXPECT_FALSE(decision.division.has_value()) << decision.reason;
    EXPECT_EQ(decision.present_load, 2.125);
  }
}

// A frozen layer takes its forward pass only, a third of a trained one: 3 / (3 - 2x).
TEST(BalanceOracleTest, FreezingAShareGainsThreeOverThreeMinusTwiceTheShare) {
  const auto gain = [](Balancer balancer, int layers, int frozen) {
    BalanceProblem problem;
    for (int layer = 0; layer < layers; ++layer) problem.loads.push_back(layer < frozen ? 1 : 3);
    problem.speeds.assign(8, 1.0);
    const BalanceDecision decision = Decide(balancer, problem);
    return decision.present_load / decision.new_load;
  };
  for (const Balancer balancer : kBoth) {
    EXPECT_DOUBLE_EQ(gain(balancer, 48, 24), 1.5);
    EXPECT_DOUBLE_EQ(gain(balancer, 48, 36), 2.0);
    EXPECT_NEAR(gain(balancer, 8000, 6616), 2.23, 0.01);
  }
}

// One of p stages takes s times as long: s (p - 1 + 1/s) / p, with layers that divide evenly.
TEST(BalanceOracleTest, AStragglerIsRelievedToTheFluidLimit) {
  const auto gain = [](Balancer balancer, int layers, int stages, int straggler, double slower) {
    BalanceProblem problem{.loads = std::vector<double>(layers, 1.0),
                           .speeds = std::vector<double>(stages, 1.0)};
    problem.speeds[straggler] = 1 / slower;
    const BalanceDecision decision = Decide(balancer, problem);
    return decision.present_load / decision.new_load;
  };
  for (const int straggler : {0, 2, 3}) {
    EXPECT_DOUBLE_EQ(gain(Balancer::kPartition, 28, 4, straggler, 2), 1.75);
    EXPECT_DOUBLE_EQ(gain(Balancer::kPartition, 120, 8, straggler, 2), 1.875);
    EXPECT_DOUBLE_EQ(gain(Balancer::kPartition, 736, 16, straggler, 3), 2.875);
    EXPECT_DOUBLE_EQ(gain(Balancer::kDiffusion, 28, 4, straggler, 2), 1.75);
    EXPECT_DOUBLE_EQ(gain(Balancer::kDiffusion, 120, 8, straggler, 2), 1.875);
    EXPECT_DOUBLE_EQ(gain(Balancer::kDiffusion, 736, 16, straggler, 3), 2.875);
  }
}

TEST(BalanceOracleTest, NoGainExceedsTheLargestOverTheFluidLoad) {
  int moves = 0;
  for (int seed = 0; seed < 200; ++seed) {
    BalanceProblem problem = DrawBalanceProblem(seed);
    Random random = Random(seed).Child("speeds", 0);
    if (seed % 2 == 1) SlowSome(problem, random);
    for (const Balancer balancer : kBoth) {
      const BalanceDecision decision = Decide(balancer, problem);
      EXPECT_GE(decision.new_load, FluidLoad(problem) * (1 - 1e-12)) << "seed " << seed;
      EXPECT_LE(decision.new_load, decision.present_load) << "seed " << seed;
      if (!decision.division) continue;
      ++moves;
      EXPECT_DOUBLE_EQ(SlowestLoad(problem, *decision.division), decision.new_load);
    }
  }
  EXPECT_GT(moves, 200);
}

}  // namespace
}  // namespace stagecraft
