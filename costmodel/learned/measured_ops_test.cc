#include "costmodel/learned/measured_ops.h"

#include <gtest/gtest.h>

#include "costmodel/analytical_model.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

const Op kProduct = Op::Gemm(DType::kBf16, 4096, 4096, 4096);
const Op kOther = Op::Gemm(DType::kBf16, 4096, 4096, 4104);

Sample SampleOf(const Op& op, Duration time) {
  Sample sample;
  sample.op = op;
  sample.gpu = "NVIDIA H100 80GB HBM3";  // a name of the catalogue
  sample.time = time;
  sample.spread = 0.02;
  return sample;
}

const Device& DeviceOf(const char* name) {
  return DeviceCatalogue::Embedded().Get(name, "test").device;
}

std::vector<Estimate> Predict(const std::vector<Sample>& samples, const Device& device) {
  return MeasuredOps(std::make_unique<AnalyticalModel>(), samples, "x")
      .Predict(std::vector{kProduct, kOther}, device);
}

TEST(MeasuredOpsTest, OneThatWasMeasuredTakesTheMeanOfItsSamplesAndNoOtherChanges) {
  const Device device = AsSampled(DeviceOf("h100-sxm"));
  const std::vector<Op> ops = {kProduct, kOther};
  const std::vector<Estimate> before = AnalyticalModel().Predict(ops, device);
  const std::vector<Estimate> after =
      Predict({SampleOf(kProduct, 900_us), SampleOf(kProduct, 1100_us)}, device);
  EXPECT_EQ(after[0].time, 1_ms);
  EXPECT_EQ(after[0].basis, Basis::kMeasured);
  EXPECT_EQ(after[0].spread, 0.02);
  EXPECT_EQ(after[0].host, before[0].host);
  EXPECT_EQ(after[1], before[1]);
}

TEST(MeasuredOpsTest, SamplesAreOfTheirOwnDevice) {
  const Device& other = DeviceOf("a100-sxm4-80gb");
  const std::vector<Op> ops = {kProduct, kOther};
  EXPECT_EQ(Predict({SampleOf(kProduct, 1_ms)}, other), AnalyticalModel().Predict(ops, other));
}

TEST(MeasuredOpsTest, ASlowerClockSlowsThemAsItSlowsTheModel) {
  const Device fast = AsSampled(DeviceOf("h100-sxm"));
  Device slow = fast;
  slow.clock_share = 0.5;
  const double ratio = AnalyticalModel().Predict(std::vector{kProduct}, slow)[0].time.seconds() /
                       AnalyticalModel().Predict(std::vector{kProduct}, fast)[0].time.seconds();
  EXPECT_NEAR(Predict({SampleOf(kProduct, 1_ms)}, slow)[0].time.ms(), ratio, 1e-5);
}

TEST(MeasuredOpsTest, WholeCallsAreNoKernels) {
  Sample call = SampleOf(kProduct, 1_ms);
  call.times_whole_calls = true;
  EXPECT_EQ(ErrorOf([&] { Predict({call}, DeviceOf("h100-sxm")); }),
            "x: got samples that time whole framework calls, want samples of kernels");
}

}  // namespace
}  // namespace stagecraft
