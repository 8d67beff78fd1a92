#include "runtime/cuda/stand_in/stand_in_gpu.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

TEST(StandInGpuTest, WordsDescribeAGpu) {
  const StandInGpu gpu = ParseStandInGpu(
      "groups=15 rest=12 cache=1 data=no missing=libcudnn fail=cudaMalloc:3 watts=300 "
      "throttled=yes");
  EXPECT_EQ(gpu.multiprocessors(), 132);
  EXPECT_EQ(gpu.cache, size_t{1} << 20);
  EXPECT_EQ(gpu.data, StandInData::kIgnored);
  EXPECT_EQ(gpu.watts, 300);
  EXPECT_TRUE(gpu.is_throttled);
  EXPECT_EQ(ParseStandInGpu("data=yes").data, StandInData::kCalculated);
  EXPECT_EQ(ParseStandInGpu("data=checked").data, StandInData::kChecked);
  EXPECT_EQ(ParseStandInGpu("call=50").call_nanoseconds, 50);
  EXPECT_TRUE(gpu.missing.contains("libcudnn"));
  EXPECT_EQ(gpu.fails.function, "cudaMalloc");
  EXPECT_EQ(gpu.fails.nth, 3);
  EXPECT_EQ(ParseStandInGpu("name=NVIDIA_H200").name, "NVIDIA H200");
  EXPECT_TRUE(ParseStandInGpu("driver-is-old=yes").driver_is_old);
  for (const char* const words :
       {"groups", "groups=-1", "groups=x", "data=maybe", "fail=x", "driver-is-old=maybe", "y=1"}) {
    EXPECT_NE(ErrorOf([&] { ParseStandInGpu(words); }), "") << words;
  }
}

}  // namespace
}  // namespace stagecraft
