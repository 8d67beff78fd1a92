#include "costmodel/learned/measured_times.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

Op Product(int64_t m) { return Op::Gemm(DType::kBf16, m, 64, 64); }

Device TestGpu(double clock_share = 1) {
  Device device;
  device.id = "board";
  device.clock_share = clock_share;
  device.is_busy = false;
  return device;
}

Sample SampleOf(int64_t m, Duration time, double spread = 0) {
  Sample sample;
  sample.op = Product(m);
  sample.gpu = "board";
  sample.time = time;
  sample.spread = spread;
  return sample;
}

// Prices every op at 10 us at the boost clock, and longer at a lower clock.
std::vector<Estimate> Price(std::span<const Op> ops, const Device& device) {
  const Duration time = Duration::Seconds(10e-6 / device.clock_share);
  return std::vector<Estimate>(ops.size(), {time, Basis::kLearned, 0.1, 7_us});
}

std::vector<Estimate> Predict(const MeasuredTimes& times, const Device& device) {
  const std::vector<Op> ops = {Product(1), Product(2)};
  std::vector<Estimate> estimates = Price(ops, device);
  times.Correct(ops, device, Price, &estimates);
  return estimates;
}

MeasuredTimes Times(const std::vector<Sample>& samples) {
  MeasuredTimes times;
  times.Add(samples);
  return times;
}

TEST(MeasuredTimesTest, AnOpThatWasMeasuredTakesItsTimeAndNoOtherDoes) {
  const std::vector<Estimate> estimates = Predict(Times({SampleOf(2, 3_us, 0.02)}), TestGpu());
  EXPECT_EQ(estimates[0].time, 10_us);
  EXPECT_EQ(estimates[0].basis, Basis::kLearned);
  EXPECT_EQ(estimates[1].time, 3_us);
  EXPECT_EQ(estimates[1].basis, Basis::kMeasured);
  EXPECT_EQ(estimates[1].spread, 0.02);
  EXPECT_EQ(estimates[1].host, 7_us);
  Device other = TestGpu();
  other.id = "other";
  EXPECT_EQ(Predict(Times({SampleOf(2, 3_us)}), other)[1].time, 10_us);
}

TEST(MeasuredTimesTest, TheMeanOfSeveralSamplesCountsAndLaterOnesReplaceIt) {
  MeasuredTimes times =
      Times({SampleOf(1, 3_us, 0.01), SampleOf(2, 1_us), SampleOf(1, 5_us, 0.03)});
  EXPECT_EQ(times.size(), 2u);
  EXPECT_EQ(Predict(times, TestGpu())[0].time, 4_us);
  EXPECT_EQ(Predict(times, TestGpu())[0].spread, 0.03);
  times.Add(std::vector{SampleOf(1, 8_us)});
  EXPECT_EQ(times.size(), 2u);
  EXPECT_EQ(Predict(times, TestGpu())[0].time, 8_us);
  EXPECT_EQ(Predict(times, TestGpu())[1].time, 1_us);
}

TEST(MeasuredTimesTest, ASlowerClockSlowsWhatWasMeasuredAsItSlowsTheModel) {
  EXPECT_EQ(Predict(Times({SampleOf(1, 3_us)}), TestGpu(0.5))[0].time, 6_us);
}

TEST(MeasuredTimesTest, ASampleOfItsOwnGpuIsOfThatGpusId) {
  Sample sample = SampleOf(1, 3_us);
  sample.gpu = "a name";
  sample.device = std::make_shared<const Device>(TestGpu());
  EXPECT_EQ(Predict(Times({sample}), TestGpu())[0].time, 3_us);
}

TEST(MeasuredTimesTest, AFileKeepsThem) {
  CostModelProto proto, again;
  Times({SampleOf(2, 3_us, 0.02), SampleOf(1, 1_us)}).AddTo(&proto);
  ASSERT_EQ(proto.measured_size(), 1);
  EXPECT_EQ(proto.measured(0).ops_size(), 2);
  const MeasuredTimes read = MeasuredTimes::FromProto(proto, "model.pb");
  EXPECT_EQ(Predict(read, TestGpu())[1].time, 3_us);
  EXPECT_EQ(Predict(read, TestGpu())[1].spread, 0.02);
  read.AddTo(&again);
  EXPECT_EQ(again.SerializeAsString(), proto.SerializeAsString());
}

TEST(MeasuredTimesTest, BadFilesAreNamed) {
  const auto error_by = [](const auto& change) {
    CostModelProto proto;
    Times({SampleOf(2, 3_us), SampleOf(1, 1_us)}).AddTo(&proto);
    change(*proto.mutable_measured(0));
    return ErrorOf([&] { MeasuredTimes::FromProto(proto, "model.pb"); });
  };
  using M = MeasuredDeviceProto;
  EXPECT_EQ(error_by([](M& m) { m.clear_device(); }),
            "model.pb: measured[0].device: got nothing, want the id of a device");
  EXPECT_EQ(error_by([](M& m) { m.mutable_ops(1)->set_time_ns(0); }),
            "model.pb: measured[0].ops[1].time_ns: got 0, want 1 to 1000000000000000");
  EXPECT_EQ(error_by([](M& m) { m.mutable_ops(0)->set_spread(-1); }),
            "model.pb: measured[0].ops[0].spread: got -1, want 0 to 1000");
  EXPECT_EQ(error_by([](M& m) { *m.mutable_ops(1) = m.ops(0); }),
            "model.pb: measured[0].ops[1].op: got it again, want it once");
  EXPECT_NE(error_by([](M& m) {
              m.mutable_ops(0)->mutable_op()->set_m(-1);
            }).find("model.pb: measured[0].ops[0].op"),
            std::string::npos);
}

TEST(MeasuredTimesTest, AFileHoldsALimitedNumberOfOps) {
  std::vector<Sample> samples;
  for (size_t m = 1; m <= MeasuredTimes::kMost + 1; ++m) {
    samples.push_back(SampleOf(static_cast<int64_t>(m), 1_us));
  }
  CostModelProto proto;
  Times(samples).AddTo(&proto);
  EXPECT_EQ(ErrorOf([&] { MeasuredTimes::FromProto(proto, "model.pb"); }),
            "model.pb: measured: got 20001 ops, want at most 20000");
}

}  // namespace
}  // namespace stagecraft
