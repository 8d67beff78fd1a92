#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/random.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

TEST(OpTest, GemmCountsAMultiplyAddAsTwo) {
  const Op op = Op::Gemm(DType::kBf16, 2, 3, 5);
  EXPECT_EQ(op.Flops().count(), 60);
  EXPECT_EQ(op.Traffic(), Bytes(2 * (10 + 15 + 6)));
}

TEST(OpTest, CausalAttentionIsHalfTheSquareAndBackwardIsFiveProducts) {
  const Op forward = Op::Attention(DType::kBf16, Direction::kForward, 1, 4, 4, 8, true);
  EXPECT_EQ(forward.Flops().count(), 4 * 4 * 4 * 8 / 2);
  const Op backward = Op::Attention(DType::kBf16, Direction::kBackward, 1, 4, 4, 8, true);
  EXPECT_EQ(backward.Flops().count(), 2.5 * forward.Flops().count());
}

TEST(OpTest, EqualOpsHaveEqualHashesAndDifferentOnesDiffer) {
  const Op a = Op::Gemm(DType::kBf16, 128, 256, 512);
  const Op b = Op::Gemm(DType::kBf16, 128, 256, 512);
  const Op c = Op::Gemm(DType::kFp16, 128, 256, 512);
  EXPECT_EQ(a, b);
  EXPECT_EQ(std::hash<Op>{}(a), std::hash<Op>{}(b));
  EXPECT_NE(a, c);
  EXPECT_NE(std::hash<Op>{}(a), std::hash<Op>{}(c));
}

TEST(RandomTest, ASeedGivesTheSameNumbersEverywhere) {
  Random random(1);
  EXPECT_EQ(random.Bits(), 10451216379200822465ull);
  Random child = Random(1).Child("costs", 3);
  Random other = Random(1).Child("costs", 4);
  EXPECT_NE(child.Bits(), other.Bits());
}

// The mean of so many squares is within three standard errors of 2, sqrt((24 - 4) / n) each.
TEST(RandomTest, ExponentialNumbersHaveMeanOne) {
  constexpr int kDraws = 40000;
  Random random(2);
  double sum = 0, squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double value = random.Exponential();
    EXPECT_GE(value, 0);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 1, 3 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 2, 3 * std::sqrt(20.0 / kDraws));
}

}  // namespace
}  // namespace stagecraft
