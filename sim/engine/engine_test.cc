#include "sim/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "costmodel/random.h"
#include "sim/schedule/deadlock.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

// lane 0: [a 3us]
// lane 1:        [b 2us]      b needs a
TEST(EngineTest, SuccessorStartsWhenItsPredecessorEnds) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const TaskId b = s.Add(Lane(1), /*after=*/{a});
  const Timeline t = Engine().Run(s.Build(), std::vector{3_us, 2_us});
  EXPECT_EQ(t.start(b), 3_us);
  EXPECT_EQ(t.makespan(), 5_us);
}

// lane 0: [a 3us][b 2us]      b is free, but behind a
TEST(EngineTest, LaneRunsItsTasksInIssueOrder) {
  Schedule::Builder s;
  s.Add(Lane(0));
  const TaskId b = s.Add(Lane(0));
  const Timeline t = Engine().Run(s.Build(), std::vector{3_us, 2_us});
  EXPECT_EQ(t.start(b), 3_us);
}

// lane 0: [a 3us][c 1us]
// lane 1: [b 5us][c 1us]      c occupies both
TEST(EngineTest, TaskOnTwoLanesWaitsForBoth) {
  Schedule::Builder s;
  s.Add(Lane(0));
  s.Add(Lane(1));
  const Lane both[] = {Lane(0), Lane(1)};
  const TaskId c = s.Add(both, {}, -1, Tag());
  const TaskId d = s.Add(Lane(0));
  const Timeline t = Engine().Run(s.Build(), std::vector{3_us, 5_us, 1_us, 1_us});
  EXPECT_EQ(t.start(c), 5_us);
  EXPECT_EQ(t.start(d), 6_us);
}

TEST(EngineTest, EmptyScheduleTakesNoTime) {
  Schedule::Builder s;
  EXPECT_EQ(Engine().Run(s.Build(), {}).makespan(), Duration());
}

TEST(EngineTest, ZeroLengthTasksChainWithinOneInstant) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const TaskId b = s.Add(Lane(1), {a});
  const TaskId c = s.Add(Lane(0), {b});
  const Timeline t = Engine().Run(s.Build(), std::vector{0_us, 0_us, 4_us});
  EXPECT_EQ(t.start(c), 0_us);
  EXPECT_EQ(t.makespan(), 4_us);
}

// Half speed from 2us on: 2us done, the other 2us take 4us.
TEST(EngineTest, RunningTaskSlowsWhenItsLaneSlows) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const TaskId b = s.Add(Lane(0));
  const Schedule schedule = s.Build();
  const RateChange slow[] = {{2_us, Lane(0), 0.5}};
  const Timeline t = Engine().Run(schedule, std::vector{4_us, 1_us}, {.changes = slow});
  EXPECT_EQ(t.end(a), 6_us);
  EXPECT_EQ(t.end(b), 8_us);
}

TEST(EngineTest, StoppedLaneGoesOnWhenItsRateReturns) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const Schedule schedule = s.Build();
  const RateChange outage[] = {{3_us, Lane(0), 1.0}, {1_us, Lane(0), 0.0}};
  EXPECT_EQ(Engine().Run(schedule, std::vector{4_us}, {.changes = outage}).end(a), 6_us);
}

TEST(EngineTest, RateOfOneChangesNothing) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  s.Add(Lane(1), {a});
  const Schedule schedule = s.Build();
  const std::vector durations{4_us, 3_us};
  const RateChange same[] = {{1_us, Lane(0), 1.0}, {9_us, Lane(1), 2.0}};
  EXPECT_EQ(Engine().Run(schedule, durations, {.changes = same}).Fingerprint(),
            Engine().Run(schedule, durations).Fingerprint());
}

TEST(EngineTest, LaneStoppedForGoodIsExplained) {
  Schedule::Builder s;
  s.Add(Lane(0));
  const Schedule schedule = s.Build();
  const RateChange outage[] = {{1_us, Lane(0), 0.0}};
  EXPECT_THROW(Engine().Run(schedule, std::vector{4_us}, {.changes = outage}), DeadlockError);
}

// However low the rate, a task ends no earlier than at its nominal rate, or never.
TEST(EngineTest, RatesNextToZeroNeverEndATaskBeforeItBegins) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const TaskId b = s.Add(Lane(0), {a});
  const Schedule schedule = s.Build();
  for (int exponent = 0; exponent <= 323; ++exponent) {
    for (const Duration change : {0_us, 1_us}) {
      const RateChange slow[] = {{change, Lane(0), std::pow(10, -exponent)}};
      const auto run = [&] {
        return Engine().Run(schedule, std::vector{4_us, 1_us}, {.changes = slow});
      };
      if (exponent > 17) {
        EXPECT_THROW(run(), DeadlockError) << exponent;
        continue;
      }
      try {
        const Timeline t = run();
        EXPECT_GE(t.end(a), 4_us) << exponent;
        EXPECT_GE(t.end(b) - t.start(b), 1_us) << exponent;
        EXPECT_GE(t.start(b), t.end(a)) << exponent;
      } catch (const DeadlockError&) {
        EXPECT_GE(exponent, 14);
      }
    }
  }
}

TEST(EngineTest, TimesThatAddUpToMoreThanThereIsEndAtTheLimit) {
  Schedule::Builder s;
  for (int i = 0; i < 4; ++i) s.Add(Lane(0));
  const Schedule schedule = s.Build();
  const std::vector<Duration> durations(4, kLongestTime);
  const std::vector<Launch> launches(4, {kLongestTime, kLongestTime});
  for (const ReplayOptions& options : {ReplayOptions(), ReplayOptions{.launches = launches}}) {
    const Timeline t = Engine().Run(schedule, durations, options);
    EXPECT_EQ(t.makespan(), Duration::Max());
    for (TaskId task = 0; task < 4; ++task) {
      EXPECT_LE(Duration(), t.start(task));
      EXPECT_LE(t.start(task), t.end(task));
    }
  }
}

// Rank 0 issues its backward before its forward, but the backward needs that of rank 1, which needs
// the forward.
TEST(EngineTest, DeadlockReadsAsACircle) {
  Schedule::Builder s;
  const Lane zero = s.AddLane({0, LaneKind::kCompute});
  const Lane one = s.AddLane({1, LaneKind::kCompute});
  const auto tag = [](int rank, int micro_batch, Phase phase) {
    Tag t;
    t.rank = rank;
    t.micro_batch = micro_batch;
    t.phase = phase;
    return t;
  };
  const TaskId b0 = s.Add({&zero, 1}, {}, -1, tag(0, 0, Phase::kBackward));
  const TaskId f0 = s.Add({&zero, 1}, {}, -1, tag(0, 0, Phase::kForward));
  const TaskId f1 = s.Add({&one, 1}, {}, -1, tag(1, 0, Phase::kForward));
  const TaskId b1 = s.Add({&one, 1}, {}, -1, tag(1, 0, Phase::kBackward));
  s.AddDependency(f0, f1);
  s.AddDependency(b1, b0);
  try {
    Engine().Run(s.Build(), std::vector{1_us, 1_us, 1_us, 1_us});
    FAIL() << "no deadlock found";
  } catch (const DeadlockError& error) {
    EXPECT_STREQ(error.what(),
                 "deadlock: backward of micro-batch 0 on rank 0 waits for backward of "
                 "micro-batch 0 on rank 1, which waits for forward of micro-batch 0 on rank 1, "
                 "which waits for forward of micro-batch 0 on rank 0, which waits for the first");
  }
}

// While a long task runs, a change lets a short one end before it, and another one in between.
TEST(EngineTest, AChangeMayLetTasksEndBeforeWhatWasNextToEnd) {
  Schedule::Builder s;
  const TaskId longest = s.Add(Lane(0));
  const TaskId slow = s.Add(Lane(1));
  const TaskId after = s.Add(Lane(1));
  const Schedule schedule = s.Build();
  const std::vector<RateChange> changes = {{0_us, Lane(1), 0.0}, {10_us, Lane(1), 1.0}};
  const Timeline t = Engine().Run(schedule, std::vector{100_us, 3_us, 5_us}, {.changes = changes});
  EXPECT_EQ(t.end(slow), 13_us);
  EXPECT_EQ(t.end(after), 18_us);
  EXPECT_EQ(t.end(longest), 100_us);
}

// One lane with tasks of 2 us. The host launches a for 4 us, and the idle device waits 3 of them.
// The host turns to b at 4, so b can start at 5, when a ends, and ends at 7. The host waits for c:
// it is done with b at 8, and c starts at 9.
TEST(EngineTest, TheDeviceWaitsForItsHost) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const TaskId b = s.Add(Lane(0));
  const TaskId c = s.Add(Lane(0));
  const Schedule schedule = s.Build();
  const std::vector<Launch> launches = {{3_us, 4_us}, {1_us, 4_us}, {1_us, 1_us, true}};
  const Timeline t = Engine().Run(schedule, std::vector{2_us, 2_us, 2_us}, {.launches = launches});
  EXPECT_EQ(t.end(a), 5_us);
  EXPECT_EQ(t.start(b), 5_us);
  EXPECT_EQ(t.end(b), 7_us);
  EXPECT_EQ(t.end(c), 11_us);
}

// The host runs ahead while a long task computes, unless the next one waits for it.
TEST(EngineTest, LaunchesHideBehindEarlierTasks) {
  Schedule::Builder s;
  s.Add(Lane(0));
  const TaskId b = s.Add(Lane(0));
  const Schedule schedule = s.Build();
  const std::vector<Duration> durations = {20_us, 2_us};
  std::vector<Launch> launches = {{1_us, 2_us}, {5_us, 5_us}};
  EXPECT_EQ(Engine().Run(schedule, durations, {.launches = launches}).end(b), 23_us);
  launches[1].waits = true;
  EXPECT_EQ(Engine().Run(schedule, durations, {.launches = launches}).end(b), 28_us);
}

// The lane runs at half speed: the device waits 3 us for the launch, and the task then takes twice
// its 2 us. If the lane returns to full speed at 5 us, half of the task is done by then.
TEST(EngineTest, AThrottledDeviceWaitsNoLongerForItsHost) {
  Schedule::Builder s;
  const TaskId a = s.Add(Lane(0));
  const Schedule schedule = s.Build();
  const std::vector<Launch> launches = {{3_us, 4_us}};
  std::vector<RateChange> changes = {{0_us, Lane(0), 0.5}};
  const auto run = [&] {
    return Engine().Run(schedule, std::vector{2_us}, {.changes = changes, .launches = launches});
  };
  EXPECT_EQ(run().end(a), 7_us);
  changes.push_back({5_us, Lane(0), 1.0});
  EXPECT_EQ(run().end(a), 6_us);
  changes = {{1_us, Lane(0), 0.0}, {2_us, Lane(0), 1.0}};  // over before the launch is
  EXPECT_EQ(run().end(a), 5_us);
}

// A random schedule on three lanes, each of which is slower by its own factor.
struct RandomSchedule {
  explicit RandomSchedule(uint64_t seed) {
    Random random(seed);
    const auto draw = [&](int64_t most) { return random.Integer(0, most); };
    const int64_t slower[] = {1 << draw(2), 1 << draw(2), 1 << draw(2)};
    for (int lane = 0; lane < 3; ++lane) {
      changes.push_back({0_us, Lane(lane), 1.0 / static_cast<double>(slower[lane])});
    }
    Schedule::Builder builder;
    for (TaskId task = 0; task < 40; ++task) {
      const auto lane = static_cast<int>(draw(2));
      const auto other = static_cast<int>(draw(2));
      const Lane lanes[] = {Lane(lane), Lane(other)};
      std::vector<TaskId> after;
      if (task > 0 && draw(1) == 0) after.push_back(static_cast<TaskId>(draw(task - 1)));
      builder.Add({lanes, lane == other ? 1u : 2u}, after, -1, Tag());
      durations.push_back(Duration::Nanoseconds(draw(50)));
      stretched.push_back(std::max(slower[lane], slower[other]) * durations.back());
      const Duration lead = Duration::Nanoseconds(draw(20));
      launches.push_back({lead, lead + Duration::Nanoseconds(draw(20)), draw(3) == 0});
    }
    schedule = builder.Build();
  }

  Schedule schedule;
  std::vector<RateChange> changes;
  std::vector<Duration> durations, stretched;
  std::vector<Launch> launches;
};

// Tasks take longer according to the rates of their lanes, and launches take as long as before.
TEST(EngineTest, RatesScaleTasksAndNotTheirLaunches) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const RandomSchedule random(seed);
    const Timeline got = Engine().Run(random.schedule, random.durations,
                                      {.changes = random.changes, .launches = random.launches});
    const Timeline want =
        Engine().Run(random.schedule, random.stretched, {.launches = random.launches});
    ASSERT_EQ(got.Fingerprint(), want.Fingerprint()) << "seed " << seed;
  }
}

TEST(EngineTest, ASecondReplayIsLikeAFirstOne) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const RandomSchedule random(seed);
    for (const std::vector<Launch>& launches : {random.launches, std::vector<Launch>()}) {
      Engine fresh, engine;
      const Timeline want = fresh.Run(random.schedule, random.stretched, {.launches = launches});
      engine.Run(random.schedule, random.durations, {.launches = launches});
      const Timeline got = engine.RunAgain(random.stretched);
      ASSERT_EQ(got.Fingerprint(), want.Fingerprint()) << "seed " << seed;
      ASSERT_TRUE(std::ranges::equal(engine.launched(), fresh.launched())) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace stagecraft
