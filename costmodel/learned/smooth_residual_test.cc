#include "costmodel/learned/smooth_residual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

Op Product(int64_t m, int64_t n, int64_t k) { return Op::Gemm(DType::kBf16, m, n, k); }

struct Rows {
  std::vector<Op> ops;
  std::vector<double> residuals, sigmas;
  SmoothResidual Fit() const { return SmoothResidual::Fit(ops, residuals, sigmas); }
};

// A hundred products that take 5 % longer than predicted, up to a noise that `sigma` states.
Rows SlowProducts(double sigma) {
  Rows rows;
  for (int m = 0; m < 10; ++m) {
    for (int n = 0; n < 10; ++n) {
      rows.ops.push_back(Product(64 << m, 64 << n, 4096));
      rows.residuals.push_back(0.05);
      rows.sigmas.push_back(sigma);
    }
  }
  return rows;
}

TEST(SmoothResidualTest, NothingMeasuredIsZero) {
  EXPECT_TRUE(SmoothResidual().is_zero());
  EXPECT_EQ(SmoothResidual().Of(Product(1, 1, 1)), 0);
  EXPECT_TRUE(Rows().Fit().is_zero());
}

TEST(SmoothResidualTest, WhatManyRowsShareIsFoundBetweenThem) {
  const SmoothResidual smooth = SlowProducts(0.02).Fit();
  EXPECT_NEAR(smooth.Of(Product(3000, 1500, 4096)), 0.05, 0.005);
}

TEST(SmoothResidualTest, UncertainRowsMoveItLess) {
  const Op op = Product(3000, 1500, 4096);
  EXPECT_LT(SlowProducts(1).Fit().Of(op), SlowProducts(0.1).Fit().Of(op));
}

TEST(SmoothResidualTest, FarFromAllRowsNothingIsLeft) {
  const SmoothResidual smooth = SlowProducts(0.02).Fit();
  EXPECT_NEAR(smooth.Of(Product(3000, 1500, int64_t{1} << 40)), 0, 1e-6);
}

TEST(SmoothResidualTest, NoResidualExceedsTheMost) {
  Rows rows = SlowProducts(1e-3);
  for (double& residual : rows.residuals) residual = 2;
  EXPECT_EQ(rows.Fit().Of(rows.ops[0]), SmoothResidual::kMost);
}

TEST(SmoothResidualTest, AProtoHoldsAllOfIt) {
  const SmoothResidual smooth = SlowProducts(0.1).Fit();
  const SmoothResidual read = SmoothResidual::FromProto(smooth.ToProto(), "m.pb");
  EXPECT_EQ(read.Of(Product(300, 700, 5000)), smooth.Of(Product(300, 700, 5000)));
}

TEST(SmoothResidualTest, ADamagedProtoIsRefused) {
  SmoothResidualProto proto = SlowProducts(0.1).Fit().ToProto();
  proto.mutable_points(3)->set_log2_k(-1);
  try {
    SmoothResidual::FromProto(proto, "m.pb");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "m.pb.points[3].log2_k: got -1, want from 0 to 64");
  }
}

}  // namespace
}  // namespace stagecraft
