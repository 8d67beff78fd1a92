#include "costmodel/statistics.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(StatisticsTest, OneSlowValueMovesTheMeanAndNotTheMedian) {
  EXPECT_DOUBLE_EQ(Mean({1, 9, 2}), 4);
  EXPECT_DOUBLE_EQ(Median({1, 9, 2}), 2);
}

TEST(StatisticsTest, TheMedianOfAnEvenCountIsBetweenTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(Median({8, 1, 2, 4}), 3);
}

TEST(StatisticsTest, TheUpperMedianIsOneOfTheValuesAndAQuantile) {
  EXPECT_EQ(UpperMedian({8, 1, 2, 4}), 4);
  EXPECT_EQ(UpperMedian({1, 9, 2}), 2);
  EXPECT_EQ(UpperQuantile({8, 1, 2, 4}, 0.5), 4);
  EXPECT_EQ(UpperQuantile({1, 9, 2}, 0.5), 2);
}

TEST(StatisticsTest, InterpolatedQuantilesAreLinear) {
  EXPECT_DOUBLE_EQ(InterpolatedQuantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(InterpolatedQuantile({0, 10}, 0.9), 9);
  EXPECT_DOUBLE_EQ(InterpolatedQuantile({7}, 0.9), 7);
}

TEST(StatisticsTest, OtherQuantilesAreOneOfTheValues) {
  const std::vector<double> values = {40, 10, 30, 20};
  EXPECT_EQ(LowerQuantile(values, 0.5), 20);
  EXPECT_EQ(UpperQuantile(values, 0.5), 30);
  EXPECT_EQ(LowerQuantile(values, 0.9), 30);
  EXPECT_EQ(UpperQuantile(values, 0.9), 40);
  EXPECT_EQ(NearestRankQuantile(values, 0.5), 20);
  EXPECT_EQ(NearestRankQuantile(values, 0.51), 30);
}

TEST(StatisticsTest, TheLeastAndTheGreatestAreQuantilesToo) {
  const std::vector<double> values = {40, 10, 30, 20};
  for (const auto quantile : {InterpolatedQuantile, LowerQuantile, NearestRankQuantile}) {
    EXPECT_EQ(quantile(values, 0), 10);
    EXPECT_EQ(quantile(values, 1), 40);
  }
}

TEST(StatisticsTest, SigmaIsThatOfASample) { EXPECT_DOUBLE_EQ(Sigma({10, 12, 14}), 2); }

}  // namespace
}  // namespace stagecraft
