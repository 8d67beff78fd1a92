#include "sim/dynamics/expert_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stagecraft {
namespace {

double Sum(const std::vector<double>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

// A share of a symmetric Dirichlet distribution has mean 1/n and variance (n - 1) / (n^2 (n alpha +
// 1)).
TEST(ExpertLoadTest, SharesHaveTheMomentsOfADirichletDistribution) {
  constexpr int kExperts = 8, kDraws = 20000;
  for (const double alpha : {0.3, 1.0, 5.0}) {
    double sum = 0, squares = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const std::vector<double> shares =
          DrawExpertShares(kExperts, alpha, Random(7).Child("draw", draw));
      EXPECT_NEAR(Sum(shares), 1, 1e-12);
      sum += shares[0];
      squares += shares[0] * shares[0];
    }
    const double mean = sum / kDraws;
    const double variance = (kExperts - 1) / (kExperts * kExperts * (kExperts * alpha + 1));
    EXPECT_NEAR(mean, 1.0 / kExperts, 5 * std::sqrt(variance / kDraws)) << alpha;
    EXPECT_NEAR(squares / kDraws - mean * mean, variance, 0.05 * variance) << alpha;
  }
}

TEST(ExpertLoadTest, TinyConcentrationsLeaveOneExpert) {
  const std::vector<double> shares = DrawExpertShares(64, 1e-6, Random(3));
  EXPECT_NEAR(Sum(shares), 1, 1e-12);
  EXPECT_GT(*std::max_element(shares.begin(), shares.end()), 0.999);
}

TEST(ExpertLoadTest, WhatExceedsTheCapacityIsDropped) {
  EXPECT_EQ(WithinCapacity({0.5, 0.25, 0.125, 0.125}, 1.25),
            (std::vector<double>{0.3125, 0.25, 0.125, 0.125}));
}

}  // namespace
}  // namespace stagecraft
