#include "search/training/state_move.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "search/training/plan_division.h"
#include "search/training/training_testing.h"
#include "sim/workload/early_exit.h"
#include "sim/workload/layer_state.h"

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

// The last block of the first stage moves to the second one with its exit, of which a norm of 2 x
// 256 parameters is its own, and 1024 x 256 are tied to the head: these move only if no exit of the
// second stage has them.
TEST(StateMoveTest, WhatTheReceiverSharesDoesNotMove) {
  SmallPipeline small;
  small.plan.zero = 0;
  Division division = DivisionOf(small.plan);
  const int moving = division[0] - 1;
  ++division[1];
  --division[0];
  const auto parameters = [&](const std::vector<int>& exits) {
    std::vector<LayerState> states(small.workload.layers.size());
    for (const int layer : exits) states[layer].exit_head = ExitHead::kTied;
    Workload workload = small.workload;
    ApplyLayerStates("test", states, workload);
    const StateMove move = MoveStates(small.plan, WithDivision(small.plan, division), workload,
                                      small.cluster, small.model);
    EXPECT_EQ(move.layers, 1);
    return move.bytes.count() / 14;
  };
  const int64_t block = 12 * 256 * 256 + 13 * 256;
  EXPECT_EQ(parameters({moving}), block + 2 * 256 + 1024 * 256);
  EXPECT_EQ(parameters({moving, moving + 2}), block + 2 * 256);
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
