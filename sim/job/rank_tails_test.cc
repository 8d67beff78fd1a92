#include "sim/job/rank_tails.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace stagecraft {
namespace {

constexpr int kRanks = 16;
constexpr int kDraws = 20000;

TEST(RankTailsTest, MeansAreSumsOfHarmonicNumbers) {
  const Duration second = Duration::Seconds(1);
  EXPECT_NEAR(ExpectedTail(kRanks, 0, second).seconds(), 3.3807, 5e-5);
  EXPECT_NEAR(ExpectedTail(kRanks, 2, second).seconds(), 1.8807, 5e-5);
  EXPECT_EQ(ExpectedTail(1, 0, second), second);
}

// The simulation that the formula has to agree with draws every rank by itself.
TEST(RankTailsTest, TheSlowestOfManyRanksTakesTheMeanTail) {
  for (const int dropped : {0, 2}) {
    Random random(7);
    double sum = 0, squares = 0, direct = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const double tail = DrawTail(kRanks, dropped, Duration::Seconds(1), random).seconds();
      sum += tail;
      squares += tail * tail;
      std::vector<double> ranks;
      for (int rank = 0; rank < kRanks; ++rank) ranks.push_back(random.Exponential());
      std::sort(ranks.begin(), ranks.end(), std::greater<>());
      direct += ranks[dropped];
    }
    const double mean = sum / kDraws;
    const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    const double want = ExpectedTail(kRanks, dropped, Duration::Seconds(1)).seconds();
    EXPECT_NEAR(mean, want, 3 * error);
    EXPECT_NEAR(direct / kDraws, want, 3 * error);
  }
}

}  // namespace
}  // namespace stagecraft
