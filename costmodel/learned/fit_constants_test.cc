#include "costmodel/learned/fit_constants.h"

#include <gtest/gtest.h>

#include "costmodel/learned/learned_testing.h"

namespace stagecraft {
namespace {

const Device& A100() { return CatalogueGpu("a100-sxm4-80gb"); }
const Device& V100() { return CatalogueGpu("v100-sxm2-16gb"); }

// Adds rows with the times that `constants` give and noise of 1 %.
void AddRows(const Device& device, const std::vector<double>& constants, int count,
             SyntheticRows& rows) {
  Random random(count);
  for (int i = 0; i < count; ++i) {
    const Op op = RandomToyOp(random);
    const double log_time = std::log(ToyFamily().Describe(op, device, constants, {}));
    rows.Add(op, device, log_time + Noise(random, 0.01));
  }
}

std::vector<double> Fit(const SyntheticRows& rows) {
  return FitConstants(ToyFamily(), StartOf(ToyFamily()), rows.rows);
}

TEST(FitConstantsTest, FindsTheConstantsOfSyntheticTimes) {
  SyntheticRows rows;
  AddRows(A100(), {8e-6, 0.8, 1}, 500, rows);
  const std::vector<double> fitted = Fit(rows);
  EXPECT_NEAR(fitted[0] / 8e-6, 1, 0.02);
  EXPECT_NEAR(fitted[1] / 0.8, 1, 0.02);
}

TEST(FitConstantsTest, WhatIsNotFittedStays) {
  SyntheticRows rows;
  AddRows(A100(), {5e-6, 0.6, 1.5}, 500, rows);
  const std::vector<double> fitted = Fit(rows);
  EXPECT_DOUBLE_EQ(fitted[2], 1);
  EXPECT_NEAR(fitted[1] / 0.4, 1, 0.02);  // makes up for the factor
}

// One row of 25 takes ten times as long as it should.
TEST(FitConstantsTest, OutliersHardlyMatter) {
  SyntheticRows rows;
  AddRows(A100(), {8e-6, 0.8, 1}, 500, rows);
  for (size_t i = 0; i < rows.rows.size(); i += 25) rows.rows[i].log_seconds += std::log(10.0);
  const std::vector<double> fitted = Fit(rows);
  EXPECT_NEAR(fitted[0] / 8e-6, 1, 0.02);
  EXPECT_NEAR(fitted[1] / 0.8, 1, 0.02);
}

TEST(FitConstantsTest, WithoutRowsNothingMoves) {
  const std::vector<double> fitted = Fit({});
  const std::vector<double> start = StartOf(ToyFamily());
  for (size_t i = 0; i < start.size(); ++i) EXPECT_DOUBLE_EQ(fitted[i], start[i]);
}

// The fraction cannot go below 0.6 e^(-4 x 0.3) = 0.181.
TEST(FitConstantsTest, NoConstantGoesBeyondFourSigmas) {
  SyntheticRows rows;
  AddRows(A100(), {5e-6, 0.01, 1}, 500, rows);
  EXPECT_NEAR(Fit(rows)[1], 0.6 * std::exp(-1.2), 1e-6);
}

// Two small rows say nothing about the fraction, and little about the start.
TEST(FitConstantsTest, FewRowsMoveThePriorLittle) {
  SyntheticRows rows;
  for (int i = 0; i < 2; ++i) rows.Add(Op::Elementwise(Bytes(1000)), A100(), std::log(10e-6));
  const std::vector<double> fitted = Fit(rows);
  EXPECT_NEAR(fitted[1] / 0.6, 1, 0.01);
  EXPECT_GT(fitted[0], 5e-6);
  EXPECT_LT(fitted[0], 10e-6);
}

// There are 20,000 rows at 0.55 and 4000 at 0.65. With equal weights, their geometric mean is
// 0.598.
TEST(FitConstantsTest, GpusCountAlikeWhateverTheirRows) {
  SyntheticRows rows;
  AddRows(A100(), {5e-6, 0.55, 1}, 20000, rows);
  AddRows(V100(), {5e-6, 0.65, 1}, 4000, rows);
  EXPECT_NEAR(Fit(rows)[1] / std::sqrt(0.55 * 0.65), 1, 0.02);
}

}  // namespace
}  // namespace stagecraft
