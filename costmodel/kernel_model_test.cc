#include "costmodel/kernel_model.h"

#include <gtest/gtest.h>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

// A device with 1 PFLOP/s in bf16 from 100 multiprocessors, 10 TFLOP/s each, and 1 TB/s.
Device RoundDevice() {
  Device device;
  device.generation = Generation::kHopper;
  device.multiprocessors = 100;
  device.boost_clock_hz = 1e9;
  device.peak = {FlopRate(1e13), FlopRate(5e14), FlopRate(1e15),
                 FlopRate(1e15), FlopRate(2e15), FlopRate(4e15)};
  device.vector_peak = FlopRate(1e13);
  device.sustained_fraction = 1;
  device.memory = Bytes(80'000'000'000);
  device.memory_bandwidth = Bandwidth(1e12);
  device.l2 = Bytes(50'000'000);
  return device;
}

// Constants with which nothing is lost: only tiles and bandwidth remain.
KernelConstants Lossless() {
  KernelConstants c;
  c.start = Duration();
  c.split = 1_ms;
  c.host_dispatch = Duration();
  c.k_fill = 0;
  c.tensor_edge = 0;
  c.fp32_edge = 0;
  c.wave_loss = 0;
  c.product_memory_fraction = 1;
  c.stream_memory_fraction = 1;
  c.overlap_power = 60;
  return c;
}

TEST(KernelModelTest, ElementwiseTakesItsBytesOverBandwidth) {
  const Estimate e =
      PredictKernel(Op::Elementwise(Bytes(1'000'000'000)), RoundDevice(), Lossless());
  EXPECT_EQ(e.time, 1_ms);
  EXPECT_EQ(e.basis, Basis::kAnalytical);
  EXPECT_GT(e.spread, 0);
}

TEST(KernelModelTest, LargeGemmTakesItsFlopsOverThePeak) {
  // The GEMM has 2 * 8192^3 = 1.1e12 flop, which run at 1e15 flop/s.
  const Op op = Op::Gemm(DType::kBf16, 8192, 8192, 8192);
  const Duration time = PredictKernel(op, RoundDevice(), Lossless()).time;
  EXPECT_NEAR(time.us(), 1099.5, 1);
}

TEST(KernelModelTest, OneTileTakesTheTimeOfOneMultiprocessor) {
  // A 32x64 tile takes 2 * 32 * 64 * 10000 flop at 10 TFLOP/s = 4.096 us, although the whole device
  // would need a hundredth of it.
  const Op op = Op::Gemm(DType::kBf16, 32, 64, 10000);
  EXPECT_NEAR(PredictKernel(op, RoundDevice(), Lossless()).time.us(), 4.096, 0.01);
}

TEST(KernelModelTest, SustainedFractionSlowsProductsAndNotMemory) {
  Device slow = RoundDevice();
  slow.sustained_fraction = 0.5;
  const Op gemm = Op::Gemm(DType::kBf16, 8192, 8192, 8192);
  const Op copy = Op::Elementwise(Bytes(1'000'000'000));
  const KernelConstants c = Lossless();
  EXPECT_NEAR(PredictKernel(gemm, slow, c).time.us(),
              2 * PredictKernel(gemm, RoundDevice(), c).time.us(), 1);
  EXPECT_EQ(PredictKernel(copy, slow, c).time, PredictKernel(copy, RoundDevice(), c).time);
}

TEST(KernelModelTest, ADeviceCannotComputeInFormatsThatItHasNoRateFor) {
  Device device = RoundDevice();
  device.peak[static_cast<int>(DType::kFp8)] = FlopRate();
  EXPECT_FALSE(CanCompute(Op::Gemm(DType::kFp8, 64, 64, 64), device));
  EXPECT_TRUE(CanCompute(Op::Gemm(DType::kBf16, 64, 64, 64), device));
  EXPECT_TRUE(CanCompute(Op::Rowwise(OpKind::kNorm, DType::kFp8, 64, 64, Bytes(4096)), device));
}

TEST(KernelModelTest, NumbersOfFourBitsBringTheirScales) {
  EXPECT_EQ(TensorBytes(DType::kNvfp4, 32), Bytes(16 + 2));
  EXPECT_EQ(TensorBytes(DType::kNvfp4, 1), Bytes(1 + 1));
  for (const DType dtype : {DType::kFp32, DType::kTf32, DType::kBf16, DType::kFp8, DType::kNvfp4}) {
    EXPECT_EQ(TensorBytes(dtype, 4096).count(), 4096 * ElementSize(dtype)) << Name(dtype);
  }
}

TEST(KernelModelTest, ADeviceKnowsWhatConvolutionsReach) {
  Device device = RoundDevice();
  const Op op = Op::Convolution(DType::kBf16, 1, 8192, 8192, 8192, Bytes(1));
  const auto seconds = [&] { return PredictKernel(op, device, KernelConstants()).time.seconds(); };
  const double usual = seconds();
  device.convolution_share = 1;
  EXPECT_NEAR(usual / seconds(), 2, 0.05);
}

// The loads allow 460 FLOP per clock and multiprocessor, at which 2 x 8192^3 flop take longer than
// the tiles take otherwise.
TEST(KernelModelTest, LoadsOfUnalignedRowsBoundTheTimeOfAGemm) {
  const auto seconds = [](const Device& device, int64_t row) {
    const Op op = Op::GemmOfRows(DType::kBf16, 8192, 8192, 8192, 1, {row});
    return PredictKernel(op, device, KernelConstants()).time.seconds();
  };
  Device device = RoundDevice();
  const double clocks = 2.0 * 8192 * 8192 * 8192 / (460.0 * device.multiprocessors);
  EXPECT_NEAR(seconds(device, 8193), clocks / device.boost_clock_hz, 1e-4);
  EXPECT_LT(seconds(device, 8192), 0.1 * seconds(device, 8193));
  device.unaligned_flop_per_clock = 0;
  EXPECT_EQ(seconds(device, 8193), seconds(device, 8192));
}

TEST(KernelModelTest, TheHostLaunchesEveryKernel) {
  EXPECT_EQ(PredictKernel(Op::Elementwise(Bytes(1024), 7), RoundDevice()).host, 7 * 75_us);
  EXPECT_EQ(PredictKernel(Op::Optimizer(Bytes(1024), 2), RoundDevice()).host, 2 * 75_us);
  Op calls;
  calls.kernels = 3;
  EXPECT_EQ(PredictKernel(calls, RoundDevice()).host, 3 * 75_us);
  EXPECT_EQ(PredictKernel(calls, RoundDevice()).time, Duration());
}

TEST(KernelModelTest, ADeviceKnowsWhatItsHostNeeds) {
  Device device = RoundDevice();
  for (const Duration dispatch : {0_us, 5_us, 200_us}) {
    device.host_dispatch = dispatch;
    EXPECT_EQ(PredictKernel(Op::Elementwise(Bytes(1024), 7), device).host, 7 * dispatch);
  }
}

TEST(KernelModelTest, AShareOfTheClockSlowsWhatItDrives) {
  Device slow = RoundDevice();
  slow.clock_share = 0.64;
  const auto ratio = [&](DType type) {
    const Op op = Op::Gemm(type, 8192, 8192, 8192);
    return PredictKernel(op, slow, Lossless()).time.seconds() /
           PredictKernel(op, RoundDevice(), Lossless()).time.seconds();
  };
  EXPECT_NEAR(ratio(DType::kBf16), 1 / 0.64, 0.02);
  EXPECT_NEAR(ratio(DType::kFp32), 1 / 0.64, 0.02);
}

TEST(KernelModelTest, NoWorkTakesNoTime) {
  EXPECT_EQ(PredictKernel(Op(), RoundDevice()).time, Duration());
}

TEST(KernelModelTest, BackwardAttentionIsSlowerThanItsFlopsSay) {
  const Op forward = Op::Attention(DType::kBf16, Direction::kForward, 32, 32768, 32768, 128, true);
  const Op backward =
      Op::Attention(DType::kBf16, Direction::kBackward, 32, 32768, 32768, 128, true);
  const double ratio = PredictKernel(backward, RoundDevice()).time.seconds() /
                       PredictKernel(forward, RoundDevice()).time.seconds();
  EXPECT_NEAR(ratio, 2.5 / 0.8, 0.05);
}

TEST(KernelModelTest, RooflineIsTheSlowerOfFlopsAndBytes) {
  EXPECT_EQ(RooflineTime(Op::Gemm(DType::kBf16, 10000, 10000, 10000), RoundDevice()), 2_ms);
  // 50 MB stay in L2; 1000 MB come at 1 TB/s.
  EXPECT_EQ(RooflineTime(Op::Elementwise(Bytes(1'050'000'000)), RoundDevice()), 1_ms);
}

Op RandomOp(Random& random) {
  const int64_t m = int64_t{1} << random.Integer(0, 13);
  const int64_t n = random.Integer(1, 9000);
  const int64_t k = random.Integer(1, 9000);
  const int64_t batch = random.Integer(1, 64);
  const auto dtype = static_cast<DType>(random.Integer(0, kDTypeCount - 1));
  switch (random.Integer(0, 3)) {
    case 0:
      return Op::Gemm(dtype, m, n, k, batch);
    case 1:
      return Op::Attention(DType::kBf16, Direction::kForward, batch, m, n, 64, true);
    case 2:
      return Op::Attention(DType::kFp16, Direction::kBackward, batch, m, n, 512, false);
    default:
      return Op::Elementwise(Bytes(m * n * k), 1);
  }
}

TEST(KernelModelTest, NothingBeatsTheRooflineAndMoreWorkIsNeverFaster) {
  constexpr uint64_t kSeed = 7;
  Random random(kSeed);
  const Device device = RoundDevice();
  for (int i = 0; i < 5000; ++i) {
    const Op op = RandomOp(random);
    const Duration time = PredictKernel(op, device).time;
    ASSERT_GE(time, RooflineTime(op, device)) << Describe(op) << " seed " << kSeed;
    for (int64_t Op::*field : {&Op::m, &Op::n, &Op::k, &Op::batch}) {
      Op more = op;
      more.*field *= 2;
      ASSERT_GE(PredictKernel(more, device).time, time) << Describe(op) << " seed " << kSeed;
      more = op;
      more.*field += 1;
      ASSERT_GE(PredictKernel(more, device).time, time) << Describe(op) << " seed " << kSeed;
    }
  }
}

}  // namespace
}  // namespace stagecraft
