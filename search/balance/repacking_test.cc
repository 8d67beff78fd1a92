#include "search/balance/repacking.h"

#include <gtest/gtest.h>

#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/balance/drawn_balance.h"

namespace stagecraft {
namespace {

// Eight layers on four stages, one byte each. Only the first stage is busy.
BalanceProblem HalfPruned(int64_t limit) {
  return {.loads = {4, 4, 1, 1, 1, 1, 1, 1},
          .speeds = {1, 1, 1, 1},
          .layer_memory = std::vector<Bytes>(8, Bytes(1)),
          .stage_limits = std::vector<Bytes>(4, Bytes(limit))};
}

TEST(RepackingTest, FreesStagesWithoutWhichThePaceIsKept) {
  const Repacking packing = *Repack(HalfPruned(8), {2, 2, 2, 2}, 0);
  EXPECT_EQ(packing.division, (Division{2, 6}));
  EXPECT_EQ(packing.kept, (std::vector<int>{0, 1}));
  EXPECT_EQ(packing.freed, (std::vector<int>{2, 3}));
  EXPECT_EQ(packing.slowest, 8);
}

// One stage takes 14 instead of 8: 3/7 of the pace is lost.
TEST(RepackingTest, FreesMoreIfMoreMayBeLost) {
  EXPECT_EQ(Repack(HalfPruned(8), {2, 2, 2, 2}, 0.43)->division, (Division{8}));
  EXPECT_EQ(Repack(HalfPruned(8), {2, 2, 2, 2}, 0.42)->division, (Division{2, 6}));
}

TEST(RepackingTest, AsManyStagesAsAreAskedForAreKept) {
  const Repacking packing = *Repack(HalfPruned(8), {2, 2, 2, 2}, 0.43, 3);
  EXPECT_EQ(packing.kept, (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(Repack(HalfPruned(8), {2, 2, 2, 2}, 0.43, 5).has_value());
}

TEST(RepackingTest, MemoryKeepsStages) {
  EXPECT_EQ(Repack(HalfPruned(5), {2, 2, 2, 2}, 0)->division.size(), 3u);
  EXPECT_EQ(Repack(HalfPruned(2), {2, 2, 2, 2}, 0.9)->freed.size(), 0u);
  EXPECT_FALSE(Repack(HalfPruned(1), {2, 2, 2, 2}, 0.9).has_value());
}

TEST(RepackingTest, TheSlowestStagesAreFreedFirst) {
  BalanceProblem problem = HalfPruned(8);
  problem.speeds = {1, 0.5, 1, 1};
  const Repacking packing = *Repack(problem, {2, 2, 2, 2}, 0);
  EXPECT_EQ(packing.kept, (std::vector<int>{0, 2}));
  EXPECT_EQ(packing.freed, (std::vector<int>{1, 3}));
}

TEST(RepackingTest, ALossMustBeAShare) {
  EXPECT_THROW(Repack(HalfPruned(8), {2, 2, 2, 2}, 1), InputError);
  EXPECT_THROW(Repack(HalfPruned(8), {2, 2, 2, 2}, -0.1), InputError);
}

TEST(RepackingTest, NoFewerStagesWouldDo) {
  for (int seed = 0; seed < 200; ++seed) {
    BalanceProblem problem = DrawBalanceProblem(seed);
    Random random = Random(seed).Child("memory", 0);
    for (int layer = 0; layer < problem.layers(); ++layer) {
      problem.layer_memory.push_back(Bytes(random.Integer(0, 9)));
    }
    const Division present = UniformDivision(problem.layers(), problem.stages());
    problem.stage_limits.assign(problem.stages(), Bytes(9 * present[0]));
    const double most = SlowestLoad(problem, present) / 0.95;
    const Repacking packing = *Repack(problem, present, 0.05);
    EXPECT_LE(packing.slowest, most) << "seed " << seed;
    BalanceProblem fewer = problem;
    for (int stages = 1; stages < static_cast<int>(packing.kept.size()); ++stages) {
      fewer.speeds.assign(stages, 1.0);
      fewer.stage_limits.assign(stages, problem.stage_limits[0]);
      EXPECT_GT(LeastSlowest(fewer), most) << "seed " << seed;
    }
  }
}

// Stages of 2 bytes each, with room for 5: the first gives to the second, the third to the fourth.
TEST(FirstFitTest, AStageGivesAllToTheFirstWithRoom) {
  const FirstFitPacking packing = *RepackFirstFit(HalfPruned(5), {2, 2, 2, 2}, 2);
  EXPECT_EQ(packing.stage_of_layer, (std::vector<int>{1, 1, 1, 1, 3, 3, 3, 3}));
  EXPECT_EQ(packing.freed, (std::vector<int>{0, 2}));
  EXPECT_TRUE(packing.keeps_order);
  EXPECT_EQ(packing.slowest, 10);
}

TEST(FirstFitTest, ChangesNothingUnlessItReachesItsTarget) {
  EXPECT_FALSE(RepackFirstFit(HalfPruned(5), {2, 2, 2, 2}, 1).has_value());
  EXPECT_FALSE(RepackFirstFit(HalfPruned(4), {2, 2, 2, 2}, 2).has_value());
}

// Stages of 2, 4, 1 and 1 bytes: the first does not fit on the second, and passes it.
TEST(FirstFitTest, MayBreakTheOrderOfLayersAndSlowThePipeline) {
  const FirstFitPacking packing = *RepackFirstFit(HalfPruned(5), {2, 4, 1, 1}, 3);
  EXPECT_EQ(packing.stage_of_layer, (std::vector<int>{2, 2, 1, 1, 1, 1, 2, 3}));
  EXPECT_FALSE(packing.keeps_order);
  EXPECT_EQ(packing.slowest, 9);
  EXPECT_EQ(Repack(HalfPruned(5), {2, 4, 1, 1}, 0)->slowest, 5);
}

}  // namespace
}  // namespace stagecraft
