#include "sim/pipeline/offloaded_passes.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace stagecraft {
namespace {

std::vector<std::pair<int, int>> Places(const PassOrder& order) {
  std::vector<std::pair<int, int>> places;
  for (const OffloadedPass& pass : OffloadedPasses(order)) {
    places.emplace_back(pass.forward, pass.backward);
  }
  return places;
}

// F0 F1 F2 F3 B0 F4 B1 B2 B3 B4.
TEST(OffloadedPassesTest, EveryPassOfALongWarmupGoes) {
  const std::vector<std::pair<int, int>> want = {{0, 4}, {1, 6}, {2, 7}, {3, 8}, {5, 9}};
  EXPECT_EQ(Places(OneForwardOneBackwardOrder(3, 5)), want);
}

// F0 F1 B0 F2 B1 ...: every backward is at most three passes after its forward.
TEST(OffloadedPassesTest, PassesWhoseBackwardIsNearStay) {
  EXPECT_TRUE(Places(OneForwardOneBackwardOrder(0, 8)).empty());
  EXPECT_TRUE(Places(OneForwardOneBackwardOrder(1, 8)).empty());
  // F0 F1 F2 F3 B3 B2 B1 B0.
  const std::vector<std::pair<int, int>> want = {{0, 7}, {1, 6}};
  EXPECT_EQ(Places(GpipeOrder(4)), want);
}

TEST(OffloadedPassesTest, ForwardsAloneStay) {
  EXPECT_TRUE(Places({{Phase::kForward, 0, 0}, {Phase::kForward, 0, 1}}).empty());
}

// Weight gradients do not count: they come after the pass that brought the tensors back.
TEST(OffloadedPassesTest, ChunksAndHalvesOfBackwardsAreToldApart) {
  const PassOrder order = {{Phase::kForward, 0, 0},        {Phase::kForward, 1, 0},
                           {Phase::kForward, 0, 1},        {Phase::kBackwardInput, 1, 0},
                           {Phase::kBackwardWeight, 1, 0}, {Phase::kBackwardInput, 0, 0},
                           {Phase::kBackwardInput, 0, 1},  {Phase::kBackwardWeight, 0, 0}};
  const std::vector<std::pair<int, int>> want = {{0, 5}, {2, 6}};
  EXPECT_EQ(Places(order), want);
}

}  // namespace
}  // namespace stagecraft
