#include "sim/pipeline/pipeline_schedule.h"

#include <gtest/gtest.h>

#include <iterator>
#include <vector>

namespace stagecraft {
namespace {

TEST(PipelineScheduleTest, EveryOrderButTheCustomOneIsFoundByItsName) {
  const std::vector<PipelineSchedule> named = NamedPipelineSchedules();
  EXPECT_EQ(named.size() + 1, std::size(kPipelineScheduleTraits));
  for (const PipelineSchedule schedule : named)
    EXPECT_EQ(FindPipelineSchedule(Name(schedule)), schedule);
  EXPECT_FALSE(FindPipelineSchedule(Name(PipelineSchedule::kCustom)));
}

TEST(PipelineScheduleTest, OneForwardOneBackwardOfSeveralChunksIsInterleaved) {
  const PipelineSchedule usual = PipelineSchedule::kOneForwardOneBackward;
  EXPECT_EQ(ForChunks(usual, 1), usual);
  EXPECT_EQ(ForChunks(usual, 2), PipelineSchedule::kInterleaved);
  EXPECT_EQ(ForChunks(PipelineSchedule::kBreadthFirst, 2), PipelineSchedule::kBreadthFirst);
}

TEST(PipelineScheduleTest, OnlyPipeDreamUpdatesBehindEveryMiniBatch) {
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    EXPECT_EQ(UpdatesEveryMiniBatch(schedule), schedule == PipelineSchedule::kPipeDream)
        << Name(schedule);
    EXPECT_EQ(IsAsynchronous(schedule), schedule == PipelineSchedule::kPipeDream ||
                                            schedule == PipelineSchedule::kPipeDream2bw)
        << Name(schedule);
  }
}

}  // namespace
}  // namespace stagecraft
