#include "costmodel/learned/families/fp32_gemm.h"

#include <gtest/gtest.h>

#include "costmodel/learned/families/family_testing.h"

namespace stagecraft {
namespace {

Op Linear(int64_t m, int64_t n, int64_t k) { return Op::Gemm(DType::kFp32, m, n, k); }
Op Bmm(int64_t batch, int64_t m, int64_t n, int64_t k) {
  return Op::Gemm(DType::kFp32, m, n, k, batch);
}
Op RandomProduct(Random& random, bool is_batched) {
  const int64_t m = RandomSize(random, 40);
  const int64_t n = RandomSize(random, 40);
  const int64_t k = RandomSize(random, 40);
  return is_batched ? Bmm(1 + RandomSize(random, 40), m, n, k) : Linear(m, n, k);
}
Op RandomLinear(Random& random) { return RandomProduct(random, false); }
Op RandomBmm(Random& random) { return RandomProduct(random, true); }

// 10 x 10 tiles of 128 x 128 run on 100 multiprocessors of 1e11 flop/s, without losses; each takes
// 2 * 128 * 128 * 1000 flop = 327.68 us.
TEST(Fp32GemmTest, AFullWaveTakesOneTile) {
  const std::vector<double> lossless = {0, 0, 1, 1, 60};
  EXPECT_NEAR(Fp32LinearFamily().Describe(Linear(1280, 1280, 1000), RoundDevice(), lossless, {}),
              327.68e-6, 1e-9);
}

// A 32 x 64 tile takes 2 * (32 * 64 + 19.4 * 96) = 7820.8 flop a step. With k split into 16 parts
// of 64 steps this is 5.00531 us, and with 3.57 us to add them up 8.57531 us. Memory takes
//   4 * (32,768 + 65,536 + 2048) B / 0.79 TB/s = 0.50811 us,
// which is 0.059253 of that. Together they take
//   8.57531 us * (1 + 0.059253^2.44)^(1/2.44) = 8.57531 us * 1.00041484.
TEST(Fp32GemmTest, OneTileSplitsItsSteps) {
  EXPECT_NEAR(SecondsOf(Fp32LinearFamily(), Linear(32, 64, 1024), RoundDevice()), 8.57887e-6,
              1e-11);
}

// Each GEMM is a tile of 128 x 128: 2 * 128 * 128 * 4000 flop at 1e11 flop/s = 1310.72 us.
TEST(Fp32GemmTest, AHundredProductsFillTheMultiprocessors) {
  const std::vector<double> lossless = {0, 0, 1, 1, 60};
  const auto seconds = [&](int64_t batch) {
    return Fp32BmmFamily().Describe(Bmm(batch, 128, 128, 4000), RoundDevice(), lossless, {});
  };
  EXPECT_NEAR(seconds(100), 1310.72e-6, 1e-9);
  EXPECT_NEAR(seconds(200), 2 * seconds(100), 1e-9);
}

TEST(Fp32GemmTest, KernelsShareTheRows) {
  Op op = Linear(4096, 1024, 1024);
  op.kernels = 8;
  const Op one = Linear(512, 1024, 1024);
  EXPECT_DOUBLE_EQ(SecondsOf(Fp32LinearFamily(), op, RoundDevice()),
                   8 * SecondsOf(Fp32LinearFamily(), one, RoundDevice()));
  EXPECT_EQ(FeaturesOf(Fp32LinearFamily(), op, RoundDevice()),
            FeaturesOf(Fp32LinearFamily(), one, RoundDevice()));
}

TEST(Fp32GemmTest, AProductIsLinearOrBatched) {
  EXPECT_TRUE(Fp32LinearFamily().Covers(Linear(1, 1, 1), RoundDevice()));
  EXPECT_FALSE(Fp32BmmFamily().Covers(Linear(1, 1, 1), RoundDevice()));
  EXPECT_FALSE(Fp32LinearFamily().Covers(Bmm(2, 1, 1, 1), RoundDevice()));
  EXPECT_FALSE(Fp32LinearFamily().Covers(Op::Gemm(DType::kTf32, 1, 1, 1), RoundDevice()));
}

TEST(Fp32GemmTest, EverythingIsFiniteOnEveryGpu) {
  ExpectFinite(Fp32LinearFamily(), RandomLinear);
  ExpectFinite(Fp32BmmFamily(), RandomBmm);
}

TEST(Fp32GemmTest, TimeGrowsWithEveryDimension) {
  for (const auto dimension : {&Op::m, &Op::n, &Op::k}) {
    ExpectGrowth(Fp32LinearFamily(), RandomLinear, dimension);
    ExpectGrowth(Fp32BmmFamily(), RandomBmm, dimension);
  }
  ExpectGrowth(Fp32BmmFamily(), RandomBmm, &Op::batch);
}

TEST(Fp32GemmTest, LinearAgreesWithItsReference) {
  ExpectReference(Fp32LinearFamily(), {{"a30-24gb", Linear(256, 65536, 4), 9.3013569e-05},
                                       {"v100-pcie-16gb", Linear(64, 6309, 1), 2.30790046e-06},
                                       {"gb300-288gb", Linear(1, 256, 1024), 4.49657725e-06},
                                       {"v100-sxm2-32gb", Linear(1024, 128, 89), 3.67247376e-06},
                                       {"h100-nvl-94gb", Linear(125, 32768, 32), 8.19437599e-06},
                                       {"gb200-186gb", Linear(8, 1242, 362), 4.31592744e-06},
                                       {"titanrtx-24gb", Linear(256, 24255, 126), 0.00013251151},
                                       {"mi300x-192gb", Linear(176, 10037, 183), 7.67856084e-06},
                                       {"l40s-48gb", Linear(125, 79, 123), 1.4960533e-06},
                                       {"gb200-186gb", Linear(16, 42610, 512), 3.54412681e-05}});
}

TEST(Fp32GemmTest, BmmAgreesWithItsReference) {
  ExpectReference(Fp32BmmFamily(), {{"p4-8gb", Bmm(5, 2048, 1237, 64), 0.000489106008},
                                    {"gtx1080ti-11gb", Bmm(962, 8192, 2109, 2), 0.174111505},
                                    {"h100-sxm5-80gb", Bmm(428, 20, 7988, 256), 0.00201631735},
                                    {"v100-pcie-16gb", Bmm(128, 256, 4096, 512), 0.0121458831},
                                    {"gh200-144gb", Bmm(64, 13331, 9183, 8), 0.0084275745},
                                    {"a100-sxm4-40gb", Bmm(1753, 9, 1, 5240), 0.00369149323},
                                    {"rtx5090-32gb", Bmm(16, 4, 2, 2), 2.53758689e-08},
                                    {"quadrortx6000-24gb", Bmm(256, 12100, 4, 609), 0.0189487689},
                                    {"h20-96gb", Bmm(4, 5852, 9, 8405), 0.000585047269},
                                    {"l40s-48gb", Bmm(128, 1, 3017, 1024), 0.00234714176}});
}

TEST(Fp32GemmTest, FeaturesAgreeWithTheirReference) {
  ExpectReferenceFeatures(Fp32BmmFamily(), {"p4-8gb", Bmm(5, 2048, 1237, 64), 0.000489106008},
                          {2.32192809,
                           11,
                           10.2726298,
                           6,
                           0.727370215,
                           -4.27262978,
                           -5,
                           0.0343048782,
                           -0.506306367,
                           3,
                           0,
                           3,
                           0.321928095,
                           -0.40544212,
                           4.59455788,
                           -10.9975652,
                           20,
                           28.6458333,
                           104857.6,
                           258.701787,
                           1.063e+09,
                           -0.472135382,
                           5.32192809,
                           -0.472135382,
                           6,
                           -0.472135382,
                           -0.49745319,
                           -0.472135382,
                           -0.472135382,
                           6,
                           -0.49745319,
                           -0.49745319,
                           6,
                           -0.472135382,
                           6,
                           0,
                           11});
}

}  // namespace
}  // namespace stagecraft
