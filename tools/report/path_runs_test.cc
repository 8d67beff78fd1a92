#include "tools/report/path_runs.h"

#include <gtest/gtest.h>

#include "sim/analysis/task_waits.h"
#include "sim/engine/engine.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/timed_pipeline.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

std::vector<PathRun> RunsOf(const Schedule& schedule, const Timeline& timeline) {
  const TaskWaits waits(schedule, timeline, nullptr);
  return FindRuns(schedule, FindCriticalPath(timeline, waits));
}

// The runs of a 1F1B pipeline with forwards of 1 ms, backwards of 2 ms and transfers of 0.1 ms.
std::vector<PathRun> PipelineRuns(int stages, int micro_batches) {
  UniformPipeline pipeline{{}, 1, micro_batches, 1_ms, 2_ms, 100_us};
  for (int stage = 0; stage < stages; ++stage) {
    pipeline.orders.push_back(OneForwardOneBackwardOrder(stages - 1 - stage, micro_batches));
  }
  const TimedSchedule timed = BuildUniformPipeline(pipeline);
  return RunsOf(timed.schedule, Engine().Run(timed.schedule, timed.durations));
}

TEST(PathRunsTest, OneStageIsOneRun) {
  const auto runs = PipelineRuns(1, 8);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].Description(), "forward and backward of stage 0, micro-batches 0-7");
  EXPECT_EQ(runs[0].segments, 16);
  EXPECT_EQ(runs[0].to, 24_ms);
}

TEST(PathRunsTest, AMicroBatchThatGoesDownAndUpIsTwoRuns) {
  const auto runs = PipelineRuns(3, 1);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].Description(), "forward of micro-batch 0, stages 0 to 2");
  EXPECT_EQ(runs[0].to, 3200_us);
  EXPECT_EQ(runs[0].transfers, 200_us);
  EXPECT_EQ(runs[0].reason, StartReason::kStepBegins);
  EXPECT_EQ(runs[1].Description(), "backward of micro-batch 0, stages 2 to 0");
  EXPECT_EQ(runs[1].from, 3200_us);
  EXPECT_EQ(runs[1].to, 9400_us);
  EXPECT_EQ(runs[1].reason, StartReason::kLane);  // the forward of the same stage ran before it
}

TEST(PathRunsTest, RunsTileThePath) {
  Duration end;
  for (const PathRun& run : PipelineRuns(4, 16)) {
    EXPECT_EQ(run.from, end);
    EXPECT_GT(run.segments, 0);
    end = run.to;
  }
  EXPECT_GT(end, 57_ms);  // 19 slots of 3 ms, plus transfers
}

TEST(PathRunsTest, WhatIsNoPassIsARunByPhaseAndStage) {
  Schedule::Builder s;
  const Lane lane{0};
  const auto add = [&](Phase phase, int16_t stage) {
    Tag tag;
    tag.phase = phase;
    tag.stage = stage;
    s.Add({&lane, 1}, {}, -1, tag);
  };
  add(Phase::kGradReduce, 2);
  add(Phase::kGradReduce, 2);
  add(Phase::kGradNorm, -1);
  add(Phase::kOptimizer, 0);
  add(Phase::kParamGather, 0);
  const Schedule schedule = s.Build();
  const std::vector<Duration> durations(5, 1_ms);
  const auto runs = RunsOf(schedule, Engine().Run(schedule, durations));
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].Description(), "gradient reduction of stage 2");
  EXPECT_EQ(runs[0].segments, 2);
  EXPECT_EQ(runs[1].Description(), "gradient norm");
  EXPECT_EQ(runs[2].Description(), "optimizer of stage 0");
  EXPECT_EQ(runs[3].Description(), "parameter gather of stage 0");
}

}  // namespace
}  // namespace stagecraft
