#include "costmodel/learned/families/tensor_gemm.h"

#include <gtest/gtest.h>

#include "costmodel/board_power.h"
#include "costmodel/learned/families/family_testing.h"

namespace stagecraft {
namespace {

Op Product(int64_t m, int64_t n, int64_t k) { return Op::Gemm(DType::kBf16, m, n, k); }
Op RandomProduct(Random& random) {
  const int64_t m = RandomSize(random, 40);
  const int64_t n = RandomSize(random, 40);
  const int64_t k = RandomSize(random, 40);
  constexpr DType kFormats[] = {DType::kBf16, DType::kFp16, DType::kFp8, DType::kTf32};
  const DType dtype = kFormats[random.Integer(0, 3)];
  const int64_t batch = random.Uniform() < 0.5 ? 1 : RandomSize(random, 40);
  return Op::Gemm(dtype, m, n, k, batch);
}

// Returns constants, in the order of their index: the start takes 3,000 clocks, the fill 1,000 and
// a split 3 us; steps, edges and waves lose nothing; L2 and DRAM reach their full rates at once.
std::vector<double> RoundConstants(double smooth_power) {
  return {3, 0, 1, 0, 1, 0, 1, 0, 3, 40, 1, 0, 1, 1.5625, 1, 5, 1, smooth_power, 1, 1};
}

// There are 10 x 10 tiles of 128 x 128, one for each multiprocessor of 1e13 flop/s:
//   compute = 1000 x 2 x 128 x 128 / 1e13 + 1 us to fill = 4.2768 us
//   (50 tiles of 256 x 128 take 6.5536 + 1 us, 200 of 128 x 64 2 x (1.6384 + 1) us)
// The weights and the inputs are 2.56 MB each and the outputs 3.2768 MB, together 8.3968 MB.
// Weights count five times, so the pressure is 18.6368 MB over half of the 50 MB of L2, 0.745472,
// at which 1 / (1 + 0.745472^-5) = 0.1871420 of the bytes are missed:
//   memory = 8.3968 MB x 0.1871420 / 1 TB/s + 8.3968 MB x 0.8128580 / 10 TB/s
//          = 1.571394 + 0.682541 us = 2.253935 us
// (L2's rate: 64 bytes x 100 SMs x 1 GHz x 1.5625 = 10 TB/s.) A block of 1280
// x 1280 = sqrt(100 x 16,384)^2 numbers reads nothing twice.
//   start  = 3000 clocks at 1 GHz = 3 us
TEST(TensorGemmTest, AFullWaveTakesOneTile) {
  const auto micros = [](double power) {
    return 1e6 * TensorGemmFamily().Describe(Product(1280, 1280, 1000), RoundDevice(),
                                             RoundConstants(power), {});
  };
  EXPECT_NEAR(micros(60), 3 + 4.2768, 1e-6);
  EXPECT_NEAR(micros(2), 3 + std::hypot(4.2768, 2.253935), 1e-6);
  EXPECT_NEAR(micros(1), 3 + 4.2768 + 2.253935, 1e-6);
}

// 2 x 2^42 flop at 1e15 flop/s are 8796.09 us, in 81.92 waves of 256 x 128 tiles that fill for 1 us
// each. The operands are 1.6 GB; reading them once takes less.
TEST(TensorGemmTest, ALargeProductRunsAtTheRate) {
  std::vector<double> constants = RoundConstants(60);
  constexpr size_t kReread = 16;
  constants[kReread] = 1e-9;
  const double seconds =
      TensorGemmFamily().Describe(Product(16384, 16384, 16384), RoundDevice(), constants, {});
  EXPECT_NEAR(1e6 * seconds, 3 + 8796.093 + 81.92, 1e-2);
}

// Board power leaves 515 MHz of 1 GHz for long: (200 - 20 - 45 W) / (3.7e-4 W x 819,200 FLOP/clock
// x (8192 / 4096)^-0.4 x 0.7^-2.25) GHz^2.25. A product of half a second runs at that clock.
TEST(TensorGemmTest, BoardPowerSlowsLongProducts) {
  Device device = RoundDevice();
  device.peak[static_cast<int>(DType::kBf16)] = FlopRate(8.192e14);
  std::vector<double> constants = RoundConstants(60);
  constants[16] = 1e-9;
  const auto seconds = [&] {
    return TensorGemmFamily().Describe(Product(65536, 65536, 65536), device, constants, {});
  };
  const double free = seconds();
  device.power_w = 200;
  const double clock = ClocksOf(device, DType::kBf16, 1, 1).sustained;
  EXPECT_LT(clock, 0.95e9);
  EXPECT_NEAR(seconds() / free, 1e9 / clock, 1e-3);
}

TEST(TensorGemmTest, KernelsShareTheRows) {
  Op op = Product(4096, 1024, 1024);
  op.kernels = 8;
  EXPECT_DOUBLE_EQ(SecondsOf(TensorGemmFamily(), op, RoundDevice()),
                   8 * SecondsOf(TensorGemmFamily(), Product(512, 1024, 1024), RoundDevice()));
}

// Rows of odd length in 16 bits are loaded number by number, which allows 460 FLOP per clock on
// each of 100 multiprocessors of 1 GHz: 46 TFLOP/s in place of 1000. Loads of two, four and eight
// numbers allow more.
TEST(TensorGemmTest, RowsThatAreNotAlignedLimitTheRate) {
  std::vector<double> constants = RoundConstants(60);
  constexpr size_t kReread = 16;
  constants[kReread] = 1e-9;
  const Op aligned = Product(16384, 16384, 16384);
  const auto rate = [&](std::initializer_list<int64_t> rows) {
    const Op op = Op::GemmOfRows(aligned.dtype, aligned.m, aligned.n, aligned.k, 1, rows);
    const double seconds = TensorGemmFamily().Describe(op, RoundDevice(), constants, {});
    return 1e-12 * op.Flops().count() / seconds;
  };
  EXPECT_NEAR(rate({1001, 1024}), 46, 1);
  EXPECT_NEAR(rate({1002, 1024}), 92, 2);
  EXPECT_NEAR(rate({1024, 1004}), 184, 4);
  EXPECT_GT(rate({1024, 1008}), 900);
}

// 2 x 1280 x 1280 x 1000 flop at 46 TFLOP/s are 71.2 us, which say all: the tiles take 4.3 us.
TEST(TensorGemmTest, LoadsOfUnalignedRowsRunBesideTheRestOfAGemm) {
  const Op op = Op::GemmOfRows(DType::kBf16, 1280, 1280, 1000, 1, {1001});
  const double seconds = TensorGemmFamily().Describe(op, RoundDevice(), RoundConstants(60), {});
  EXPECT_NEAR(1e6 * seconds, 3 + 71.234783, 1e-6);
}

TEST(TensorGemmTest, CoversProductsAndConvolutionsOnTensorCores) {
  EXPECT_TRUE(TensorGemmFamily().Covers(Product(1, 1, 1), RoundDevice()));
  EXPECT_TRUE(TensorGemmFamily().Covers(Op::Gemm(DType::kFp8, 1, 1, 1), RoundDevice()));
  EXPECT_TRUE(TensorGemmFamily().Covers(Op::Convolution(DType::kFp16, 1, 1, 1, 1, Bytes(6)),
                                        RoundDevice()));
  EXPECT_FALSE(TensorGemmFamily().Covers(Op::Gemm(DType::kFp32, 1, 1, 1), RoundDevice()));
  EXPECT_FALSE(TensorGemmFamily().Covers(Op::Elementwise(Bytes(1)), RoundDevice()));
}

TEST(TensorGemmTest, OnlyPlainProductsIn16BitsAreLikeTheSamples) {
  EXPECT_FALSE(TensorGemmFamily().IsDerived(Product(1, 1, 1)));
  EXPECT_FALSE(TensorGemmFamily().IsDerived(Op::Gemm(DType::kFp16, 1, 1, 1)));
  EXPECT_TRUE(TensorGemmFamily().IsDerived(Op::Gemm(DType::kFp8, 1, 1, 1)));
  EXPECT_TRUE(TensorGemmFamily().IsDerived(Op::Gemm(DType::kBf16, 1, 1, 1, 2)));
  EXPECT_TRUE(TensorGemmFamily().IsDerived(Op::GemmOfRows(DType::kBf16, 1, 1, 1, 1, {1001, 1024})));
  EXPECT_TRUE(TensorGemmFamily().IsDerived(Op::Convolution(DType::kBf16, 1, 1, 1, 1, Bytes(6))));
}

TEST(TensorGemmTest, EverythingIsFiniteOnEveryGpu) {
  ExpectFinite(TensorGemmFamily(), RandomProduct);
}

TEST(TensorGemmTest, TimeGrowsWithEveryDimension) {
  for (const auto dimension : {&Op::m, &Op::n, &Op::k, &Op::batch}) {
    ExpectGrowth(TensorGemmFamily(), RandomProduct, dimension);
  }
}

TEST(TensorGemmTest, NothingTakesLessThanTheLeastTime) {
  const uint64_t seed = 20240609;
  Random random(seed);
  const std::vector<double> constants = StartOf(TensorGemmFamily());
  for (int sample = 0; sample < 2000; ++sample) {
    Op op = RandomProduct(random);
    op.dtype = DType::kBf16;
    EXPECT_GE(SecondsOf(TensorGemmFamily(), op, RoundDevice()),
              TensorGemmFamily().LeastTime(op, RoundDevice(), constants) * (1 - 1e-12))
        << Describe(op) << ", seed " << seed;
  }
}

}  // namespace
}  // namespace stagecraft
