#include "sim/dynamics/pruning.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(PruningTest, SparsityGrowsWithACube) {
  const SparsitySchedule schedule = {0, 0.9, 2, 10, 2};
  EXPECT_EQ(LastPruning(schedule, 1), -1);
  EXPECT_EQ(LastPruning(schedule, 2), 2);
  EXPECT_EQ(LastPruning(schedule, 7), 6);
  EXPECT_EQ(LastPruning(schedule, 100), 8);
  EXPECT_DOUBLE_EQ(SparsityAt(schedule, 2), 0);
  EXPECT_DOUBLE_EQ(SparsityAt(schedule, 4), 0.5203125);
  EXPECT_DOUBLE_EQ(SparsityAt(schedule, 6), 0.7875);
  EXPECT_DOUBLE_EQ(SparsityAt(schedule, 8), 0.8859375);
}

// Two layers of equally many weights, of which one is twice as wide.
TEST(PruningTest, NarrowLayersLoseMoreWeights) {
  const std::vector<LayerWeights> layers = {{1000, 1}, {1000, 2}};
  const std::vector<double> half = KeptByMagnitude(layers, 0.5);
  EXPECT_NEAR(half[0], 0.35574, 5e-6);
  EXPECT_NEAR(half[1], 0.64426, 5e-6);
  const std::vector<double> tenth = KeptByMagnitude(layers, 0.9);
  EXPECT_NEAR(tenth[0], 0.00893, 5e-6);
  EXPECT_NEAR(tenth[1], 0.19107, 5e-6);
}

TEST(PruningTest, TheSharesThatStayAddUp) {
  const std::vector<LayerWeights> layers = {{1e6, 0.02}, {3e6, 0.5}, {7e6, 0.04}, {1, 1e-3}};
  for (const double sparsity : {0.0, 0.01, 0.37, 0.9, 0.9999}) {
    const std::vector<double> kept = KeptByMagnitude(layers, sparsity);
    double all = 0, left = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      all += layers[i].count;
      left += layers[i].count * kept[i];
    }
    EXPECT_NEAR(left / all, 1 - sparsity, 1e-12) << sparsity;
  }
}

}  // namespace
}  // namespace stagecraft
