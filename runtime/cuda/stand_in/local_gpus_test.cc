// What the program finds out about a GPU and its parts, on the stand-in for a GPU.
#include "runtime/cuda/local_gpus.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {
namespace {

const std::vector<int> kHalves = {64, 64};

// A copy on the stand-in takes 2 us and a nanosecond for each 1400 bytes.
TEST(LocalGpusTest, ACopyBetweenPartsTakesTheDevicesTimeHoweverSlowTheHostIs) {
  for (const int call_nanoseconds : {1'500, 10'000}) {
    StandInGpu gpu = CheckedGpu();
    gpu.call_nanoseconds = call_nanoseconds;
    UseStandIn(gpu);
    for (const Link& copy : ProbeParts(0, kHalves, "test").copies) {
      EXPECT_NEAR(copy.latency.us(), 2, 0.02) << call_nanoseconds;
    }
  }
}

TEST(LocalGpusTest, AFunctionThatTheManagementLibraryLacksLeavesOnlyItsOwnAnswerUnknown) {
  StandInGpu gpu = CheckedGpu();
  gpu.missing = {"nvmlDeviceGetFieldValues", "nvmlDeviceGetMaxPcieLinkWidth"};
  UseStandIn(gpu);
  const LocalGpu found = FindLocalGpus("test")[0];
  EXPECT_EQ(found.pcie_generation, 5);
  EXPECT_EQ(found.pcie_lanes, 0);
}

TEST(LocalGpusTest, TooLittleMemoryToMeasurePartsIsOneSentence) {
  for (const size_t memory : {size_t{0}, size_t{8} << 20}) {
    StandInGpu gpu = CheckedGpu();
    gpu.memory = memory;
    UseStandIn(gpu);
    EXPECT_NE(
        ErrorOf([] { ProbeParts(0, kHalves, "test"); }).find("want one with enough free memory"),
        std::string::npos)
        << memory;
    EXPECT_TRUE(StandInLeaks().empty());
  }
}

}  // namespace
}  // namespace stagecraft
