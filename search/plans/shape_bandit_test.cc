#include "search/plans/shape_bandit.h"

#include <gtest/gtest.h>

#include <vector>

namespace stagecraft {
namespace {

using Shares = std::vector<double>;

TEST(ShapeBanditTest, TheShapeThatReplacesTheOnlyOneIsAlwaysDrawn) {
  ShapeBandit bandit(1, 0.5);
  bandit.Leave(0);
  bandit.Renew(0);
  EXPECT_EQ(bandit.Shares(), Shares{1});
  bandit.Learn(0, 1);
  bandit.Learn(0, 2);
  EXPECT_EQ(bandit.Shares(), Shares{1});
}

TEST(ShapeBanditTest, TheShapeThatReplacesOneOfThoseLeftIsAlwaysDrawn) {
  ShapeBandit bandit(3, 0.5);
  for (const size_t shape : {0, 1, 2}) bandit.Leave(shape);
  bandit.Renew(1);
  EXPECT_EQ(bandit.Shares(), (Shares{0, 1, 0}));
  Random random(1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(bandit.Draw(random), 1u);
}

TEST(ShapeBanditTest, ANewShapeIsAsLikelyAsTheLikeliest) {
  ShapeBandit bandit(3, 0.5);
  bandit.Learn(0, 1);
  bandit.Learn(0, 2);
  EXPECT_GT(bandit.Shares()[0], bandit.Shares()[1]);
  bandit.Leave(2);
  EXPECT_EQ(bandit.Shares()[2], 0);
  bandit.Renew(2);
  EXPECT_EQ(bandit.Shares()[2], bandit.Shares()[0]);
  EXPECT_GT(bandit.Shares()[2], bandit.Shares()[1]);
}

}  // namespace
}  // namespace stagecraft
