#include "sim/pipeline/order_memory.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

// The memory is 10, 20, 13, 23: the first micro-batch still holds 3 for its weight gradients.
TEST(OrderMemoryTest, InputGradientsFreeAllButWhatWeightGradientsNeed) {
  const PassOrder order = {{Phase::kForward, 0, 0},
                           {Phase::kForward, 0, 1},
                           {Phase::kBackwardInput, 0, 0},
                           {Phase::kForward, 0, 2},
                           {Phase::kBackwardWeight, 0, 0}};
  EXPECT_EQ(PeakMemory(order, {{{10, 3}}}), 23);
}

TEST(OrderMemoryTest, ABackwardInOnePassFreesAll) {
  const PassOrder order = {
      {Phase::kForward, 0, 0}, {Phase::kBackward, 0, 0}, {Phase::kForward, 0, 1}};
  EXPECT_EQ(PeakMemory(order, {{{10, 3}}}), 10);
}

TEST(OrderMemoryTest, ChunksHoldTheirOwn) {
  const PassOrder order = {{Phase::kForward, 0, 0}, {Phase::kForward, 1, 0}};
  EXPECT_EQ(PeakMemory(order, {{{10, 3}, {5, 2}}}), 15);
}

}  // namespace
}  // namespace stagecraft
