// What a run on the stand-in for a GPU says beside its times: sensors, and steps that were queued
// too late.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "costmodel/units.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/board.h"
#include "runtime/cuda/two_stages.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {
namespace {

CudaRunResult RunSteps(int micro_batches, int steps, const char* missing = "nothing") {
  StandInBoard board = CheckedBoard();
  board.cache = 1 << 16;
  board.missing = {missing};
  UseStandIn(board);
  TwoStages pipeline(micro_batches, 64);
  const Schedule schedule = pipeline.builder.Build();
  return RunOnCuda({.schedule = &schedule,
                    .places = {{0, 64}, {0, 64}},
                    .process = {},
                    .steps = {{2}, {steps}}});
}

TEST(RunCircumstancesTest, SensorsAreReadForEveryRank) {
  const std::vector<BoardReadings> boards = RunSteps(2, 3).boards;
  ASSERT_EQ(boards.size(), 2u);
  EXPECT_EQ(boards[0], boards[1]);
  EXPECT_GT(boards[0].least_clock_hz, 1e9);
  EXPECT_EQ(boards[0].watts, 412);
  EXPECT_EQ(boards[0].throttled, 0);
  EXPECT_EQ(RunSteps(2, 3, "libnvidia-ml").boards, std::vector<BoardReadings>(2));
}

TEST(RunCircumstancesTest, AStepLongerThanQueuesIsQueuedLate) {
  EXPECT_EQ(RunSteps(2, 3).measured.queued_late, std::vector<Duration>(3));
  const std::vector<Duration> late = RunSteps(500, 4).measured.queued_late;
  ASSERT_EQ(late.size(), 4u);
  EXPECT_GT(*std::min_element(late.begin(), late.end()), Duration());
}

}  // namespace
}  // namespace stagecraft
