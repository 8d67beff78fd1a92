#include "search/training/state_move.h"

#include <gtest/gtest.h>

#include "search/training/plan_division.h"
#include "search/training/training_testing.h"

namespace stagecraft {
namespace {

// A block has 12 x 256^2 + 13 x 256 parameters of 2 + 12 bytes, on each of the two replicas.
TEST(StateMoveTest, AMoveTakesTheTimeOfItsLayers) {
  SmallPipeline small(2);
  small.plan.zero = 0;
  const Bytes block(14 * (12 * 256 * 256 + 13 * 256));
  Division division = DivisionOf(small.plan);
  ++division[1];
  --division[0];
  const StateMove one = MoveStates(small.plan, WithDivision(small.plan, division), small.workload,
                                   small.cluster, small.model);
  EXPECT_EQ(one.layers, 1);
  EXPECT_EQ(one.bytes, 2 * block);
  EXPECT_EQ(one.most_beside, block);
  EXPECT_EQ(one.time, 1_us + block / Bandwidth(300e9));
  // Two blocks leave one device one after another.
  ++division[1];
  --division[0];
  const StateMove two = MoveStates(small.plan, WithDivision(small.plan, division), small.workload,
                                   small.cluster, small.model);
  EXPECT_EQ(two.layers, 2);
  EXPECT_EQ(two.time, 2 * one.time);
}

TEST(StateMoveTest, NothingMovesForNothing) {
  const SmallPipeline small;
  const StateMove move =
      MoveStates(small.plan, small.plan, small.workload, small.cluster, small.model);
  EXPECT_EQ(move.layers, 0);
  EXPECT_EQ(move.time, Duration());
}

}  // namespace
}  // namespace stagecraft
