#include "costmodel/learned/call_overhead.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

Sample Timed(const std::string& name, Duration time, const Op& op = Op::Elementwise(Bytes(1))) {
  Sample sample;
  sample.op = op;
  sample.gpu = "a";
  sample.name = name;
  sample.time = time;
  sample.source = "us";
  sample.times_whole_calls = true;
  return sample;
}

// Returns the overhead of a hundred calls of 100, 101, ... us, whose 5th percentile is the sixth,
// 105 us.
CallOverhead FittedOverhead() {
  std::vector<Sample> samples;
  for (int i = 0; i < 100; ++i) {
    samples.push_back(Timed("gelu", Duration::Nanoseconds(100000 + 1000 * i)));
    samples.push_back(Timed("linear", Duration::Nanoseconds(200000 + 1000 * i)));
  }
  return CallOverhead::Fit(samples);
}

TEST(CallOverheadTest, AShortKernelTakesTheFloor) {
  EXPECT_EQ(FittedOverhead().Reported(Timed("gelu", {}), 1_us), 105_us);
  EXPECT_EQ(FittedOverhead().Reported(Timed("linear", {}), Duration()), 205_us);
}

// The leads are 0.57 x 105 us = 59.85 us and 0.9 x 205 us = 184.5 us.
TEST(CallOverheadTest, ALongKernelWaitsForItsLaunch) {
  const CallOverhead overhead = FittedOverhead();
  EXPECT_EQ(overhead.Reported(Timed("gelu", {}), 1_ms), 1_ms + 59850_ns);
  const Op product = Op::Gemm(DType::kFp32, 1, 1, 1);
  EXPECT_EQ(overhead.Reported(Timed("linear", {}, product), 1_ms), 1_ms + 184500_ns);
}

// The floor counts up to 105 - 59.85 = 45.15 us of kernel, and the lead from there on.
TEST(CallOverheadTest, FloorAndLeadMeet) {
  const CallOverhead overhead = FittedOverhead();
  EXPECT_EQ(overhead.Reported(Timed("gelu", {}), 45150_ns), 105_us);
  EXPECT_EQ(overhead.Reported(Timed("gelu", {}), 45151_ns), 105001_ns);
}

TEST(CallOverheadTest, NearTheFloorARowSaysNothing) {
  const CallOverhead overhead = FittedOverhead();
  EXPECT_EQ(overhead.DeviceTime(Timed("gelu", 105_us)), Duration());
  EXPECT_EQ(overhead.DeviceTime(Timed("gelu", 120_us)), Duration());  // 1.143 floors
  EXPECT_EQ(overhead.DeviceTime(Timed("gelu", 125_us)), 125_us - 59850_ns);
  const Sample sample = Timed("gelu", 2_ms);
  EXPECT_EQ(overhead.Reported(sample, overhead.DeviceTime(sample)), 2_ms);
}

// The mean of the GPU type is (105 + 205) / 2 = 155 us.
TEST(CallOverheadTest, AnUnseenNameTakesTheMeanOfItsGpuOrOfAll) {
  std::vector<Sample> samples = {Timed("gelu", 105_us), Timed("linear", 205_us)};
  Sample other_gpu = Timed("gelu", 305_us);
  other_gpu.gpu = "b";
  samples.push_back(other_gpu);
  const CallOverhead overhead = CallOverhead::Fit(samples);
  Sample unseen = Timed("tanh", {});
  EXPECT_EQ(overhead.Reported(unseen, Duration()), 155_us);
  unseen.gpu = "c";
  EXPECT_EQ(overhead.Reported(unseen, Duration()), 205_us);
}

TEST(CallOverheadTest, OtherSourcesAddNothing) {
  std::vector<Sample> samples = {Timed("gelu", 105_us)};
  Sample other = Timed("gelu", 5_us);
  other.source = "someone";
  other.times_whole_calls = false;
  samples.push_back(other);
  const CallOverhead overhead = CallOverhead::Fit(samples);
  EXPECT_EQ(overhead.Reported(other, 3_us), 3_us);
  EXPECT_EQ(overhead.DeviceTime(other), 5_us);
  EXPECT_EQ(CallOverhead().DeviceTime(Timed("gelu", 5_us)), 5_us);
}

TEST(CallOverheadTest, AProtoHoldsAllOfIt) {
  CostModelProto proto;
  FittedOverhead().AddTo(proto);
  ASSERT_EQ(proto.floors_size(), 2);
  const CallOverhead read = CallOverhead::FromProto(proto, "m.pb");
  EXPECT_EQ(read.Reported(Timed("gelu", {}), 1_us), 105_us);
  for (const double seconds : {-1.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    proto.mutable_floors(1)->set_seconds(seconds);
    try {
      CallOverhead::FromProto(proto, "m.pb");
      ADD_FAILURE() << "took " << seconds;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("m.pb: floors[1].seconds: got "))
          << error.what();
    }
  }
}

}  // namespace
}  // namespace stagecraft
