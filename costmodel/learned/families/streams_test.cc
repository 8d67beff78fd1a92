#include "costmodel/learned/families/streams.h"

#include <gtest/gtest.h>

#include "costmodel/learned/families/family_testing.h"

namespace stagecraft {
namespace {

constexpr Bytes kGigabyte(1'000'000'000);

Op Stream(int64_t bytes) { return Op::Elementwise(Bytes(bytes)); }
// Returns a norm that reads and writes rows x width numbers in fp32.
Op Norm(int64_t rows, int64_t width) {
  return Op::Rowwise(OpKind::kNorm, DType::kFp32, rows, width, Bytes(8 * rows * width));
}
Op Softmax(int64_t rows, int64_t width) {
  return Op::Rowwise(OpKind::kSoftmax, DType::kFp32, rows, width, Bytes(8 * rows * width));
}
double Micros(const KernelFamily& family, const Op& op) {
  return 1e6 * SecondsOf(family, op, RoundDevice());
}
Op RandomRows(Random& random, OpKind kind) {
  const int64_t rows = RandomSize(random, 40);
  const int64_t width = RandomSize(random, 40);
  return Op::Rowwise(kind, random.Uniform() < 0.5 ? DType::kFp32 : DType::kFp16, rows, width,
                     Bytes(RandomSize(random, 50) - 1));
}
Op RandomNorm(Random& random) { return RandomRows(random, OpKind::kNorm); }
Op RandomSoftmax(Random& random) { return RandomRows(random, OpKind::kSoftmax); }

// 3 us + 1 GB / 0.9 TB/s = 1114.11 us.
TEST(StreamsTest, AStreamTakesItsStartAndItsBytes) {
  EXPECT_NEAR(Micros(StreamFamily(), Op::Elementwise(kGigabyte)), 3 + 1111.1111, 1e-3);
  EXPECT_NEAR(Micros(StreamFamily(), Op::Elementwise(Bytes(0))), 3, 1e-9);
}

// 4 x 3 us + 1 GB / 0.9 TB/s.
TEST(StreamsTest, KernelsShareTheBytes) {
  EXPECT_NEAR(Micros(StreamFamily(), Op::Optimizer(kGigabyte, 4)), 12 + 1111.1111, 1e-3);
}

// 3 us + 1 GB / 0.755 TB/s.
TEST(StreamsTest, OldGpusReachLessOfTheirBandwidth) {
  Device turing = RoundDevice();
  turing.generation = Generation::kTuring;
  EXPECT_NEAR(1e6 * SecondsOf(StreamFamily(), Op::Elementwise(kGigabyte), turing), 3 + 1324.5033,
              1e-3);
}

// 100 x 2048 / 128 = 1600 rows are in flight, and L2 has 25 MB for them. Rows of 1000 numbers are
// 6.4 MB, so u = 0.256 < 0.5 gives 2 passes. Rows of 8192 numbers are 52 MB, so u = 2.1 > 1.5 gives
// 3.
TEST(StreamsTest, ANormReadsWideRowsTwice) {
  const auto norm = [](int64_t width) {
    return Micros(NormFamily(), Op::Rowwise(OpKind::kNorm, DType::kFp32, 1, width, kGigabyte));
  };
  EXPECT_NEAR(norm(1000), 3 + 1111.1111, 1e-3);
  EXPECT_NEAR(norm(8192), 3 + 1.5 * 1111.1111, 1e-3);
}

// 400 rows are in flight. Rows of 65,536 numbers are 105 MB, so u = 4.2 gives 4 passes.
TEST(StreamsTest, ASoftmaxReadsWideRowsThreeTimes) {
  const auto softmax = [](int64_t width) {
    return Micros(SoftmaxFamily(),
                  Op::Rowwise(OpKind::kSoftmax, DType::kFp32, 1, width, kGigabyte));
  };
  EXPECT_NEAR(softmax(1024), 3 + 1111.1111, 1e-3);
  EXPECT_NEAR(softmax(65'536), 3 + 2 * 1111.1111, 1e-3);
}

TEST(StreamsTest, ARowOfHalfTheBytesIsReadAgainAtTwiceTheWidth) {
  const auto norm = [](DType dtype, int64_t width) {
    return Micros(NormFamily(), Op::Rowwise(OpKind::kNorm, dtype, 1, width, kGigabyte));
  };
  EXPECT_DOUBLE_EQ(norm(DType::kBf16, 6000), norm(DType::kFp32, 3000));
  EXPECT_GT(norm(DType::kFp32, 3000), norm(DType::kFp32, 1000));
  EXPECT_LT(norm(DType::kFp32, 3000), norm(DType::kFp32, 8192));
}

TEST(StreamsTest, EverythingIsFiniteOnEveryGpu) {
  ExpectFinite(StreamFamily(), [](Random& random) { return Stream(RandomSize(random, 50) - 1); });
  ExpectFinite(NormFamily(), RandomNorm);
  ExpectFinite(SoftmaxFamily(), RandomSoftmax);
}

TEST(StreamsTest, TimeGrowsWithTheWidth) {
  ExpectGrowth(NormFamily(), RandomNorm, &Op::n);
  ExpectGrowth(SoftmaxFamily(), RandomSoftmax, &Op::n);
}

TEST(StreamsTest, StreamAgreesWithItsReference) {
  ExpectReference(StreamFamily(), {{"t4-16gb", Stream(131072), 3.54251656e-06},
                                   {"a40-48gb", Stream(854016), 4.36337165e-06},
                                   {"gtx1080ti-11gb", Stream(524288), 4.43475453e-06},
                                   {"a10g-24gb", Stream(8192), 3.01517037e-06},
                                   {"p40-24gb", Stream(512), 3.00195996e-06},
                                   {"b200-sxm-180gb", Stream(3784), 3.00054603e-06},
                                   {"a10g-24gb", Stream(4194304), 1.07672296e-05},
                                   {"gtx1080ti-11gb", Stream(32768), 3.08967216e-06},
                                   {"b300-sxm-288gb", Stream(165696), 3.0237557e-06},
                                   {"a10g-24gb", Stream(8192), 3.01517037e-06}});
}

TEST(StreamsTest, NormAgreesWithItsReference) {
  ExpectReference(NormFamily(), {{"p100-sxm2-16gb", Norm(134, 2), 3.00387942e-06},
                                 {"a10-24gb", Norm(64, 8760), 1.54586667e-05},
                                 {"a100-pcie-80gb", Norm(64, 23), 3.00676199e-06},
                                 {"a100-sxm4-40gb", Norm(256, 17688), 4.18263923e-05},
                                 {"gb300-288gb", Norm(8, 8192), 3.10112259e-06},
                                 {"gb300-288gb", Norm(5, 8192), 3.06320162e-06},
                                 {"a800-80gb", Norm(760, 32), 3.10602147e-06},
                                 {"rtx2080-8gb", Norm(8192, 32), 9.20018921e-06},
                                 {"l40s-48gb", Norm(1, 131), 3.00134774e-06},
                                 {"a30-24gb", Norm(10906, 8192), 0.00118241325}});
}

TEST(StreamsTest, SoftmaxAgreesWithItsReference) {
  ExpectReference(SoftmaxFamily(), {{"rtx6000ada-48gb", Softmax(16, 7), 3.00103704e-06},
                                    {"rtx6000ada-48gb", Softmax(2, 101), 3.00187037e-06},
                                    {"gh200-96gb", Softmax(3581, 1), 3.00795778e-06},
                                    {"gb200-186gb", Softmax(1, 256), 3.00028444e-06},
                                    {"h200-sxm5-141gb", Softmax(512, 16), 3.01517037e-06},
                                    {"t4-16gb", Softmax(8, 64), 3.01695364e-06},
                                    {"rtx6000ada-48gb", Softmax(3963, 4), 3.14677778e-06},
                                    {"rtxpro6000-96gb", Softmax(32, 1024), 3.18238642e-06},
                                    {"titanrtx-24gb", Softmax(2, 1), 3.00003154e-06},
                                    {"v100-pcie-16gb", Softmax(32768, 1), 3.32363457e-06}});
}

TEST(StreamsTest, FeaturesAgreeWithTheirReference) {
  ExpectReferenceFeatures(StreamFamily(), {"t4-16gb", Stream(131072), 3.54251656e-06},
                          {-21.2192809, -5, 40, 25.3125, 104857.6, 1.59e+09});
  ExpectReferenceFeatures(NormFamily(), {"p100-sxm2-16gb", Norm(134, 2), 3.00387942e-06},
                          {-23.2534967, -9.96578428, 1, 1.25873427, 1, 512, 2, 1, 56, 14.4808743,
                           74898.2857, 1.48e+09});
}

}  // namespace
}  // namespace stagecraft
