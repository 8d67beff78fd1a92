#include "sim/analysis/critical_path.h"

#include <gtest/gtest.h>

#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/op.h"
#include "sim/engine/engine.h"
#include "sim/engine/sim_executor.h"

namespace stagecraft {
namespace {

std::vector<PathSegment> PathOf(const Schedule& schedule, const Timeline& timeline,
                                const BoundCosts* costs = nullptr) {
  return FindCriticalPath(timeline, TaskWaits(schedule, timeline, costs));
}

void ExpectSegment(const PathSegment& got, TaskId task, Duration from, Duration to,
                   Activity activity, StartReason reason) {
  EXPECT_EQ(got.task, task);
  EXPECT_EQ(got.from, from);
  EXPECT_EQ(got.to, to);
  EXPECT_EQ(got.activity, activity);
  EXPECT_EQ(got.reason, reason);
}

// lane 0: [a 3us]
// lane 1:        [b 2us]      b needs a
// lane 2: [c 4us]
TEST(CriticalPathTest, GoesBackFromTheLastEndThroughWhatItWaitedFor) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const TaskId b = s.Add(Lane(1), {a});
  s.Add(Lane(2));
  const Schedule schedule = s.Build();
  const Timeline timeline = Engine().Run(schedule, std::vector{3_us, 2_us, 4_us});
  const auto path = PathOf(schedule, timeline);
  ASSERT_EQ(path.size(), 2u);
  ExpectSegment(path[0], a, 0_us, 3_us, Activity::kWork, StartReason::kStepBegins);
  ExpectSegment(path[1], b, 3_us, 5_us, Activity::kWork, StartReason::kDependency);
  EXPECT_EQ(path[0].after, -1);
  EXPECT_EQ(path[1].after, a);
}

// lane 0: [a 3us][b 1us]
// lane 1: [c 3us]             b needs c: of equals the dependency counts
TEST(CriticalPathTest, ADependencyCountsBeforeTheLane) {
  Schedule::Builder s;
  s.Add(Lane(0));
  const TaskId c = s.Add(Lane(1));
  const TaskId b = s.Add(Lane(0), {c});
  const Schedule schedule = s.Build();
  const auto path = PathOf(schedule, Engine().Run(schedule, std::vector{3_us, 3_us, 1_us}));
  ASSERT_EQ(path.size(), 2u);
  ExpectSegment(path[0], c, 0_us, 3_us, Activity::kWork, StartReason::kStepBegins);
  ExpectSegment(path[1], b, 3_us, 4_us, Activity::kWork, StartReason::kDependency);
}

// lane 0: [a 3us][b 1us]      c, on lane 1, has long ended
TEST(CriticalPathTest, ATaskMayWaitForItsLane) {
  Schedule::Builder s;
  s.Add(Lane(0));
  const TaskId c = s.Add(Lane(1));
  s.Add(Lane(0), {c});
  const Schedule schedule = s.Build();
  const auto path = PathOf(schedule, Engine().Run(schedule, std::vector{3_us, 2_us, 1_us}));
  ASSERT_EQ(path.size(), 2u);
  ExpectSegment(path[1], 2, 3_us, 4_us, Activity::kWork, StartReason::kLane);
}

// lane 0: [a 3us] 1us nothing [b 2us]
TEST(CriticalPathTest, WhereNothingElseHeldATaskBackItsLaunchDid) {
  Schedule::Builder s;
  s.Add(Lane(0));
  s.Add(Lane(0));
  const auto path = PathOf(s.Build(), Timeline({0_us, 4_us}, {3_us, 6_us}));
  ASSERT_EQ(path.size(), 3u);
  ExpectSegment(path[1], 1, 3_us, 4_us, Activity::kLaunch, StartReason::kLane);
  ExpectSegment(path[2], 1, 4_us, 6_us, Activity::kWork, StartReason::kLane);
}

// One rank that runs a pass of one op, and hands it on by a message.
struct PassAndMessage {
  Schedule schedule;
  BoundCosts costs;

  PassAndMessage(const Estimate& pass, const Estimate& message) {
    Schedule::Builder s;
    s.AddRank({});
    const Lane lanes[] = {s.AddLane({0, LaneKind::kCompute}), s.AddLane({0, LaneKind::kSendNext})};
    const OpId ops[] = {s.AddOp(Op()), s.AddOp(Op())};
    Tag tag;
    tag.rank = 0;
    const TaskId first = s.Add({&lanes[0], 1}, {}, s.AddOpSequence({&ops[0], 1}), tag);
    tag.phase = Phase::kSendForward;
    s.Add({&lanes[1], 1}, {&first, 1}, s.AddOpSequence({&ops[1], 1}), tag);
    schedule = s.Build();
    costs.device_of_rank = {0};
    costs.estimates = {{pass, message}};
    costs.op_sequences.emplace_back();
    for (OpSequenceId op_sequence = 0; op_sequence < schedule.op_sequence_count(); ++op_sequence) {
      costs.op_sequences[0].push_back(TimesOf(schedule, op_sequence, costs.estimates[0]));
    }
  }
};

// [launch 4us][a 10us][message 5us]
TEST(CriticalPathTest, ALaunchThatTheDeviceWaitsForIsASegment) {
  Estimate pass, message;
  pass.time = 10_us;
  pass.host = 4_us;
  message.time = 5_us;
  const PassAndMessage job(pass, message);
  const std::vector<Launch> launches = BindLaunches(job.schedule, job.costs);
  const Timeline timeline =
      Engine().Run(job.schedule, std::vector{10_us, 5_us}, {.launches = launches});
  const auto path = PathOf(job.schedule, timeline, &job.costs);
  ASSERT_EQ(path.size(), 3u);
  ExpectSegment(path[0], 0, 0_us, 4_us, Activity::kLaunch, StartReason::kStepBegins);
  ExpectSegment(path[1], 0, 4_us, 14_us, Activity::kWork, StartReason::kStepBegins);
  const PathTime time = TimeByPart(job.schedule, path, &job.costs);
  EXPECT_EQ(time[static_cast<int>(PathPart::kLaunch)], 4_us);
  EXPECT_EQ(time[static_cast<int>(PathPart::kForward)], 10_us);
  EXPECT_EQ(time[static_cast<int>(PathPart::kTransfer)], 5_us);
}

// [a 10us][message 5us + 2us because others send too]
TEST(CriticalPathTest, WhatAMessageLosesToOthersIsASegment) {
  Estimate pass, message;
  pass.time = 10_us;
  message.time = 5_us;
  const PassAndMessage job(pass, message);
  const Timeline timeline = Engine().Run(job.schedule, std::vector{10_us, 7_us});
  const auto path = PathOf(job.schedule, timeline, &job.costs);
  ASSERT_EQ(path.size(), 3u);
  ExpectSegment(path[1], 1, 10_us, 15_us, Activity::kWork, StartReason::kDependency);
  ExpectSegment(path[2], 1, 15_us, 17_us, Activity::kSharing, StartReason::kDependency);
  EXPECT_EQ(TimeByPart(job.schedule, path, &job.costs)[static_cast<int>(PathPart::kSharing)], 2_us);
}

TEST(CriticalPathTest, AnEmptyScheduleHasNone) {
  EXPECT_TRUE(PathOf(Schedule::Builder().Build(), Timeline()).empty());
}

}  // namespace
}  // namespace stagecraft
