#include "costmodel/statistics.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(StatisticsTest, OneSlowValueMovesTheMeanAndNotTheMedian) {
  EXPECT_DOUBLE_EQ(Mean({1, 9, 2}), 4);
  EXPECT_DOUBLE_EQ(Median({1, 9, 2}), 2);
}

TEST(StatisticsTest, OfAnEvenCountTheMedianIsBetweenTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(Median({8, 1, 2, 4}), 3);
}

TEST(StatisticsTest, SigmaIsThatOfASample) { EXPECT_DOUBLE_EQ(Sigma({10, 12, 14}), 2); }

}  // namespace
}  // namespace stagecraft
