// Tests what samples of a host teach. No catalogue has this device.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/learned/sample.h"
#include "costmodel/learned/training_rows.h"
#include "costmodel/op.h"
#include "costmodel/random.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

Device Processor() {
  Device device;
  device.id = device.name = "host";
  device.generation = Generation::kHost;
  device.multiprocessors = 1;
  device.boost_clock_hz = 2e9;
  device.vector_peak = FlopRate(5e10);
  device.peak.fill(device.vector_peak);
  device.memory = Bytes(int64_t{8} << 30);
  device.memory_bandwidth = Bandwidth(1e10);
  device.l2 = Bytes(1 << 20);
  return device;
}

Op Product(Random& random) {
  const auto side = [&] { return std::llround(std::exp2(4 + 6 * random.Uniform())); };
  return Op::Gemm(DType::kBf16, side(), side(), side());
}

// Returns the time on a host that takes a microsecond to start and then runs at 60 % of its peak.
Duration TimeOf(const Op& op) {
  return 1_us + Duration::Seconds(op.Flops().count() / (0.6 * 5e10));
}

std::vector<Sample> Samples(int count) {
  const auto device = std::make_shared<const Device>(Processor());
  Random random(1);
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) {
    Sample sample;
    sample.op = Product(random);
    sample.gpu = "host";
    sample.time = TimeOf(sample.op);
    sample.device = device;
    samples.push_back(sample);
  }
  return samples;
}

TEST(HostModelTest, HostsHaveFamiliesOfTheirOwn) {
  Device gpu = Processor();
  gpu.generation = Generation::kHopper;
  const Op product = Op::Gemm(DType::kFp32, 8, 8, 8);
  ASSERT_NE(FamilyOf(product, Processor()), nullptr);
  EXPECT_STREQ(FamilyOf(product, Processor())->name(), "host_product");
  EXPECT_NE(FamilyOf(product, gpu), FamilyOf(product, Processor()));
  const Op attention = Op::Attention(DType::kFp32, Direction::kForward, 1, 8, 8, 8, false);
  EXPECT_NE(FamilyOf(attention, Processor()), nullptr);
  EXPECT_EQ(FamilyOf(attention, gpu), nullptr);
  const Op sparse = Op::Sparse(DType::kFp32, Direction::kForward, 8, 8, 8, 9);
  ASSERT_NE(FamilyOf(sparse, Processor()), nullptr);
  EXPECT_STREQ(FamilyOf(sparse, Processor())->name(), "host_sparse");
  EXPECT_EQ(FamilyOf(sparse, gpu), nullptr);
  for (size_t f = 0; f < KernelFamilies().size(); ++f) EXPECT_EQ(IndexOf(*KernelFamilies()[f]), f);
}

TEST(HostModelTest, ItsSamplesTeachAndTheModelSurvivesTheFile) {
  const LearnedModel fitted = LearnedModel::Fit(Samples(400));
  const LearnedModel model = LearnedModel::FromProto(fitted.ToProto(), "host.pb");
  Random random(2);
  double sum = 0;
  constexpr int kOps = 100;
  for (int i = 0; i < kOps; ++i) {
    const Op op = Product(random);
    const Estimate estimate = model.Predict({&op, 1}, Processor())[0];
    EXPECT_EQ(estimate.basis, Basis::kLearned);
    EXPECT_EQ(estimate.host, Duration());
    sum += std::abs(std::log(estimate.time.seconds() / TimeOf(op).seconds()));
  }
  EXPECT_LT(sum / kOps, 0.05);
}

// Products run from the entries at 5 GFLOP/s, and the gradients of entries at 3.
Duration SparseTime(const Op& op) {
  const double rate = op.direction == Direction::kForward ? 5e9 : 3e9;
  return 1_us + Duration::Seconds(op.Flops().count() / rate);
}

TEST(HostModelTest, SparseProductsAreLearnedInBothDirections) {
  const auto device = std::make_shared<const Device>(Processor());
  Random random(3);
  const auto draw = [&] {
    const auto side = [&] { return std::llround(std::exp2(5 + 5 * random.Uniform())); };
    const int64_t m = side();
    const int64_t n = side();
    const int64_t k = side();
    const double density = 0.02 + 0.4 * random.Uniform();
    const auto entries = static_cast<int64_t>(density * static_cast<double>(n * k));
    const bool is_forward = random.Uniform() < 0.5;
    Op op = Op::Sparse(DType::kBf16, is_forward ? Direction::kForward : Direction::kBackward, m, n,
                       k, entries);
    op.product = SparseProduct::kFromEntries;
    return op;
  };
  std::vector<Sample> samples;
  for (int i = 0; i < 400; ++i) {
    Sample sample;
    sample.op = draw();
    sample.gpu = "host";
    sample.time = SparseTime(sample.op);
    sample.device = device;
    samples.push_back(sample);
  }
  const LearnedModel model = LearnedModel::Fit(samples);
  double sum = 0;
  constexpr int kOps = 100;
  for (int i = 0; i < kOps; ++i) {
    const Op op = draw();
    const Estimate estimate = model.Predict({&op, 1}, Processor())[0];
    EXPECT_EQ(estimate.basis, Basis::kLearned);
    sum += std::abs(std::log(estimate.time.seconds() / SparseTime(op).seconds()));
  }
  EXPECT_LT(sum / kOps, 0.1);
}

// The samples have sides of 16 to 1024.
TEST(HostModelTest, ProductsBeyondTheSamplesKeepTheRateOfTheLargest) {
  const LearnedModel model = LearnedModel::Fit(Samples(400));
  for (const Op& op :
       {Op::Gemm(DType::kBf16, 256, 51'200, 768), Op::Gemm(DType::kBf16, 51'200, 768, 256),
        Op::Gemm(DType::kFp32, 4096, 4096, 4096)}) {
    const double seconds = model.Predict({&op, 1}, Processor())[0].time.seconds();
    EXPECT_NEAR(std::log(seconds / TimeOf(op).seconds()), 0, 0.1) << Describe(op);
  }
}

TEST(HostModelTest, ASampleOfAnUnknownGpuIsLeftOutByName) {
  std::vector<Sample> samples = Samples(1);
  EXPECT_TRUE(CanPredict(samples[0]));
  samples[0].device = nullptr;
  EXPECT_TRUE(WhySkipped(samples[0]).starts_with("is neither in the device catalogue"));
}

}  // namespace
}  // namespace stagecraft
