#include "tools/kernels/sample_warnings.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

Sample Row(double spread, const std::string& software, const std::string& gpu = "h100-sxm5-80gb") {
  Sample sample;
  sample.gpu = gpu;
  sample.spread = spread;
  sample.software = software;
  return sample;
}

TEST(SampleWarningsTest, QuietSamplesOfOneVersionGiveNone) {
  EXPECT_TRUE(SampleWarnings("s.csv", std::vector{Row(0.2, "cuda 13.0, cublas 13.1"),
                                                  Row(0.01, "cuda 13.0, cublas 13.1")})
                  .empty());
  EXPECT_TRUE(SampleWarnings("s.csv", std::vector{Row(0, ""), Row(0, "cuda 12.8")}).empty());
}

TEST(SampleWarningsTest, AWideSpreadIsCounted) {
  EXPECT_EQ(SampleWarnings("s.csv", std::vector{Row(1.13, ""), Row(0.1, ""), Row(0.21, "")}),
            std::vector<std::string>{
                "s.csv: 2 of 3 rows have a spread above 0.2 over their repeats, 1.1 at most; they "
                "count less: measure them again on an idle device"});
}

TEST(SampleWarningsTest, TwoVersionsOnOneGpuAreNamed) {
  EXPECT_EQ(
      SampleWarnings("s.csv",
                     std::vector{Row(0, "cuda 13.0, cublas 13.1"), Row(0, "cuda 12.8, cublas 13.1"),
                                 Row(0, "cuda 11.4", "a100-sxm4-80gb")}),
      std::vector<std::string>{
          "s.csv: samples of h100-sxm5-80gb mix versions 12.8, 13.0 of cuda: times may differ "
          "between them, fit those of the version that you run"});
}

}  // namespace
}  // namespace stagecraft
