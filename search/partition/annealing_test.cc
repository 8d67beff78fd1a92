#include "search/partition/annealing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "search/partition/stop_sign.h"

namespace stagecraft {
namespace {

// Two rounds of two steps: the first begins at 8 and goes halfway (in ratios) to 2, the second
// begins at 4.
TEST(AnnealingTest, EveryRoundCoolsByEqualRatios) {
  std::vector<double> seen;
  Anneal(
      {.rounds = 2, .hot = 8, .cold = 2, .reheating = 0.5}, 4, StopSign(),
      [&] { seen.push_back(0); }, [&](double temperature) { seen.push_back(temperature); });
  ASSERT_EQ(seen.size(), 6u);
  const std::vector<double> want = {0, 8, 4, 0, 4, std::sqrt(8.0)};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_DOUBLE_EQ(seen[i], want[i]) << i;
}

TEST(AnnealingTest, NothingIsTriedOnceTheStopIsUp) {
  int changes = 0;
  Anneal(
      {.rounds = 3, .hot = 1, .cold = 0.1}, 30, StopSign::AfterLooks(12), [] {},
      [&](double) { ++changes; });
  EXPECT_EQ(changes, 12);
}

TEST(AnnealingTest, WorseChangesAreKeptMoreOftenAtHigherTemperatures) {
  EXPECT_TRUE(KeepsChange(0, 1e-9, 0.99));
  EXPECT_TRUE(KeepsChange(-1, 1e-9, 0.99));
  EXPECT_TRUE(KeepsChange(1, 1, 0.36));  // 1 / e = 0.368
  EXPECT_FALSE(KeepsChange(1, 1, 0.37));
  EXPECT_TRUE(KeepsChange(1, 10, 0.37));
}

}  // namespace
}  // namespace stagecraft
