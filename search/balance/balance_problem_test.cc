#include "search/balance/balance_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// The speeds are 1 and 0.5: [1 2 | 3].
TEST(BalanceProblemTest, AStageTakesTheSumOfItsLoadsDividedByItsSpeed) {
  const BalanceProblem problem{.loads = {1, 2, 3}, .speeds = {1, 0.5}};
  EXPECT_EQ(StageLoads(problem, {2, 1}), (std::vector<double>{3, 6}));
  EXPECT_EQ(SlowestLoad(problem, {2, 1}), 6);
  EXPECT_EQ(FluidLoad(problem), 4);
}

TEST(BalanceProblemTest, ADivisionFitsIfEachStageHoldsAtMostItsLimit) {
  const BalanceProblem problem{.loads = {1, 1, 1},
                               .speeds = {1, 1},
                               .layer_memory = {Bytes(10), Bytes(20), Bytes(30)},
                               .stage_limits = {Bytes(30), Bytes(49)}};
  EXPECT_TRUE(FitsMemory(problem, {2, 1}));
  EXPECT_FALSE(FitsMemory(problem, {1, 2}));
}

TEST(BalanceProblemTest, TheNearestEdgeIsTheLaterOneOfTwoEquallyNear) {
  const BalanceProblem problem{.loads = {2, 4, 2}, .speeds = {1}};
  const BalanceSums sums(problem);
  EXPECT_EQ(sums.NearestEdge(0), 0);
  EXPECT_EQ(sums.NearestEdge(3.9), 1);
  EXPECT_EQ(sums.NearestEdge(4), 2);
  EXPECT_EQ(sums.NearestEdge(8), 3);
  EXPECT_EQ(sums.NearestEdge(9), 3);
}

TEST(BalanceProblemTest, AUniformDivisionGivesTheFirstStagesWhatIsLeft) {
  EXPECT_EQ(UniformDivision(8, 4), (Division{2, 2, 2, 2}));
  EXPECT_EQ(UniformDivision(10, 4), (Division{3, 3, 2, 2}));
}

std::string ProblemError(const BalanceProblem& problem) {
  return ErrorOf([&] { CheckBalanceProblem(problem); });
}

TEST(BalanceProblemTest, BadProblemsAreRefusedInOneSentence) {
  EXPECT_EQ(ProblemError({.loads = {1, 1}, .speeds = {1, 1, 1}}),
            "balance: got 2 layers for 3 stages, want a layer for each");
  EXPECT_EQ(ProblemError({.loads = {1}, .speeds = {}}), "balance: got no stage, want at least one");
  EXPECT_EQ(ProblemError({.loads = {1, -2}, .speeds = {1}}),
            "balance: load of layer 1: got -2, want a finite number >= 0");
  EXPECT_EQ(ProblemError({.loads = {std::nan("")}, .speeds = {1}}),
            "balance: load of layer 0: got nan, want a finite number >= 0");
  EXPECT_EQ(ProblemError({.loads = {1}, .speeds = {0}}),
            "balance: speed of stage 0: got 0, want a finite number > 0");
  EXPECT_EQ(ProblemError({.loads = {1e308, 1e308}, .speeds = {1}}),
            "balance: want loads and speeds whose sums and quotients are finite");
  EXPECT_EQ(ProblemError({.loads = {1}, .speeds = {1}, .layer_memory = {Bytes(1)}}),
            "balance: want the memory of the layers and the limits of the stages, or neither");
  EXPECT_EQ(
      ProblemError(
          {.loads = {1, 1}, .speeds = {1}, .layer_memory = {Bytes(1)}, .stage_limits = {Bytes(1)}}),
      "balance: got the memory of 1 layers, want it for all 2");
  EXPECT_EQ(
      ProblemError(
          {.loads = {1}, .speeds = {1}, .layer_memory = {Bytes(-1)}, .stage_limits = {Bytes(1)}}),
      "balance: memory of layer 0: got -1 bytes, want >= 0");
}

TEST(BalanceProblemTest, BadDivisionsAreRefusedInOneSentence) {
  const BalanceProblem problem{.loads = {1, 1, 1}, .speeds = {1, 1}};
  const auto error = [&](const Division& division) {
    return ErrorOf([&] { CheckDivision(problem, division); });
  };
  EXPECT_EQ(error({3}), "balance: got a division over 1 stages, want one over 2");
  EXPECT_EQ(error({3, 0}), "balance: layers of stage 1: got 0, want at least one");
  EXPECT_EQ(error({1, 1}), "balance: got a division of 2 layers, want one of 3");
}

}  // namespace
}  // namespace stagecraft
