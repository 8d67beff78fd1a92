#include "tools/own/site_fit.h"

#include <gtest/gtest.h>

#include <sstream>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

// Steps of 100 ms of kernels and 10 ms, 20 ms, ... of collectives.
double Seconds(int step, const SiteFactors& factors) {
  return 0.1 / factors.compute + 0.01 * (step + 1) / factors.network;
}

SiteFit FitTo(const std::vector<double>& measured) {
  return FitSite(std::vector<std::string>(measured.size(), "a"), measured, Seconds);
}

std::vector<double> MeasuredAt(const SiteFactors& site, int steps) {
  std::vector<double> measured;
  for (int step = 0; step < steps; ++step) measured.push_back(Seconds(step, site));
  return measured;
}

TEST(SiteFitTest, ThreeStepsMoveOneFactorAtMost) {
  const SiteFit fit = FitTo(MeasuredAt({.compute = 0.8}, 3));
  EXPECT_EQ(fit.most_factors, 1);
  EXPECT_EQ(fit.used, kComputeFactor);
  EXPECT_NEAR(fit.factors.compute, 0.8, 0.02);  // a little nearer to 1: the ridge
  EXPECT_GT(fit.factors.compute, 0.8);
  EXPECT_EQ(fit.factors.network, 1);
  EXPECT_NEAR(fit.before, 0.17, 0.02);
  EXPECT_LT(fit.fitted, 0.02);
  EXPECT_LT(fit.left_out, 0.03);
}

TEST(SiteFitTest, SixStepsTellTwoFactorsApart) {
  const SiteFit fit = FitTo(MeasuredAt({.compute = 0.8, .network = 0.8}, 6));
  EXPECT_EQ(fit.used, kComputeFactor | kNetworkFactor);
  EXPECT_NEAR(fit.factors.compute, 0.8, 0.02);
  EXPECT_NEAR(fit.factors.network, 0.8, 0.05);
  EXPECT_LT(fit.left_out, fit.before / 5);
}

TEST(SiteFitTest, WhatIsPredictedWellStaysAsItIs) {
  const SiteFit fit = FitTo(MeasuredAt({}, 9));
  EXPECT_EQ(fit.used, kNoFactors);
  EXPECT_EQ(fit.factors, SiteFactors());
  std::ostringstream text;
  PrintSiteFit(fit, text);
  EXPECT_NE(text.str().find("all stay as they were"), std::string::npos);
}

TEST(SiteFitTest, TwoStepsAreTooFew) {
  EXPECT_EQ(ErrorOf([] {
              FitTo({0.1, 0.2});
            }),
            "--steps: got 2 measured steps, want at least 3: one factor for every 3");
}

}  // namespace
}  // namespace stagecraft
