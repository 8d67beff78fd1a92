// What a run on the stand-in for a GPU reports besides its times: readings of sensors, and steps
// that were queued too late.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "runtime/cuda/two_stages.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {
namespace {

CudaRunResult RunSteps(int micro_batches, int steps, int64_t size = 64,
                       const char* missing = "nothing") {
  StandInGpu gpu = CheckedGpu();
  gpu.cache = 1 << 16;
  gpu.missing = {missing};
  UseStandIn(gpu);
  TwoStages pipeline(micro_batches, size);
  const Schedule schedule = pipeline.builder.Build();
  return RunOnCuda({.schedule = &schedule,
                    .places = {{0, 64}, {0, 64}},
                    .process = {},
                    .steps = {{2}, {steps}}});
}

TEST(RunCircumstancesTest, SensorsAreReadForEveryRank) {
  const std::vector<GpuReadings> gpus = RunSteps(2, 3).gpus;
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0], gpus[1]);
  EXPECT_GT(gpus[0].least_clock_hz, 1e9);
  EXPECT_EQ(gpus[0].watts, 412);
  EXPECT_EQ(gpus[0].throttled, 0);
  EXPECT_EQ(RunSteps(2, 3, 64, "libnvidia-ml").gpus, std::vector<GpuReadings>(2));
}

// Both steps are longer than the queues; the ops of the first take longer than the host does to
// queue them.
TEST(RunCircumstancesTest, OnlyAStepInWhichDevicesWaitIsQueuedLate) {
  constexpr int64_t kLarge = 2048;
  EXPECT_EQ(RunSteps(500, 3, kLarge).measured.queued_late, std::vector<Duration>(3));
  EXPECT_EQ(RunSteps(2, 3).measured.queued_late, std::vector<Duration>(3));
  const std::vector<Duration> late = RunSteps(500, 4).measured.queued_late;
  ASSERT_EQ(late.size(), 4u);
  EXPECT_GT(*std::min_element(late.begin(), late.end()), Duration());
}

}  // namespace
}  // namespace stagecraft
