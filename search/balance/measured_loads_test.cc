#include "search/balance/measured_loads.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "search/balance/balance_problem.h"
#include "search/balance/diffusion.h"
#include "search/balance/drawn_balance.h"
#include "search/balance/layer_partition.h"

namespace stagecraft {
namespace {

TEST(MeasuredLoadsTest, WithoutNoiseTheyAreTheTruth) {
  EXPECT_EQ(MeasuredLoads({1, 0, 2.5}, 0, 7), (std::vector<double>{1, 0, 2.5}));
}

TEST(MeasuredLoadsTest, DependOnSeedAndLayerOnly) {
  const std::vector<double> one = MeasuredLoads({1, 1, 1}, 0.1, 7);
  EXPECT_EQ(one, MeasuredLoads({1, 1, 1}, 0.1, 7));
  EXPECT_NE(one, MeasuredLoads({1, 1, 1}, 0.1, 8));
  EXPECT_NE(one[0], one[1]);
  EXPECT_EQ(one[2], MeasuredLoads({5, 5, 1}, 0.1, 7)[2]);
}

// Of 10,000 logarithms the mean lies within four standard errors, 4 / 100 sigma, of 0, and so does
// the deviation, whose standard error is smaller, of sigma.
TEST(MeasuredLoadsTest, TheirLogarithmsHaveTheDeviationSigma) {
  const std::vector<double> loads = MeasuredLoads(std::vector<double>(10000, 1.0), 0.2, 1);
  double sum = 0;
  double squares = 0;
  for (const double load : loads) {
    sum += std::log(load);
    squares += std::log(load) * std::log(load);
  }
  EXPECT_NEAR(sum / 10000, 0, 0.04 * 0.2);
  EXPECT_NEAR(std::sqrt(squares / 10000), 0.2, 0.04 * 0.2);
}

// Returns the mean, over 500 instances, of the true load of the slowest stage if loads are measured
// with this noise, over the optimum.
template <typename Decide>
double MeanRatio(double sigma, const Decide& decide) {
  constexpr int kInstances = 500;
  double sum = 0;
  for (int seed = 0; seed < kInstances; ++seed) {
    const BalanceProblem truth = DrawBalanceProblem(seed);
    BalanceProblem measured = truth;
    measured.loads = MeasuredLoads(truth.loads, sigma, seed);
    sum += SlowestLoad(truth, decide(measured)) / LeastSlowest(truth);
  }
  return sum / kInstances;
}

TEST(MeasuredLoadsTest, PartitionsByNoisyLoadsAreNoBetterThanByTheTruth) {
  const auto partition = [](const BalanceProblem& problem) { return *PartitionLayers(problem); };
  const double exact = MeanRatio(0, partition);
  const double fine = MeanRatio(0.05, partition);
  const double coarse = MeanRatio(0.2, partition);
  EXPECT_NEAR(exact, 1, 1e-12);
  EXPECT_LT(exact, fine);
  EXPECT_LT(fine, coarse);
  fmt::print(
      "partition over optimum, mean: {:.4f} by the truth, {:.4f} with 5 %, {:.4f} with 20 %\n",
      exact, fine, coarse);
}

TEST(MeasuredLoadsTest, DiffusionByNoisyLoadsIsNoBetterThanByTheTruth) {
  const auto diffuse = [](const BalanceProblem& problem) {
    return Diffuse(problem, UniformDivision(problem.layers(), problem.stages())).division;
  };
  const double exact = MeanRatio(0, diffuse);
  const double fine = MeanRatio(0.05, diffuse);
  const double coarse = MeanRatio(0.2, diffuse);
  EXPECT_LT(exact, fine);
  EXPECT_LT(fine, coarse);
  fmt::print(
      "diffusion over optimum, mean: {:.4f} by the truth, {:.4f} with 5 %, {:.4f} with 20 %\n",
      exact, fine, coarse);
}

}  // namespace
}  // namespace stagecraft
