// Steps whose host launches at its own pace: it may fall behind, or get ahead.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "sim/engine/repetition.h"
#include "sim/engine/repetition_testing.h"

namespace stagecraft {
namespace {

struct Task {
  Duration duration;
  Launch launch;
};

// One lane that runs the tasks of `before`, passes of 5 us, and the tasks of `after`.
struct Launched {
  Launch pass;
  std::vector<Task> before = {};
  std::vector<Task> after = {};
  int first = 0;  // the first micro-batch whose passes need launches

  HandMadeStep operator()(int micro_batches) const {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    const auto add = [&](Phase phase, int micro_batch, const Task& task) {
      step.SetLaunch(step.Add(lane, TagOf(phase, micro_batch), task.duration), task.launch);
    };
    for (const Task& task : before) add(Phase::kParamGather, kNoMicroBatch, task);
    for (int k = 0; k < micro_batches; ++k) {
      for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
        add(phase, k, {5_us, k >= first ? pass : Launch()});
      }
    }
    for (const Task& task : after) add(Phase::kOptimizer, kNoMicroBatch, task);
    return step.Build();
  }
};

TEST(RepetitionHostTest, AHostThatHoldsEveryPassBackSetsThePeriod) {
  const Launched make = {.pass = {6_us, 6_us}};
  EXPECT_EQ(Told(make, 4, 100), Whole(make, 100));
  EXPECT_EQ(Whole(make, 100).makespan, 200 * 6_us + 5_us);
}

TEST(RepetitionHostTest, AHostThatWaitsForEveryPassIsAsLateEveryTime) {
  const Launched make = {.pass = {1_us, 2_us, true}};
  EXPECT_EQ(Told(make, 4, 100), Whole(make, 100));
  EXPECT_EQ(Whole(make, 100).makespan, 200 * 6_us);
}

// The host waits for the last task, although it needs no launches.
TEST(RepetitionHostTest, AHostThatGetsAheadHoldsNothingBack) {
  const Task without_launches = {1_us, {0_us, 0_us, true}};
  const Launched make = {.pass = {0_us, 4_us}, .after = {without_launches}};
  EXPECT_EQ(Told(make, 4, 100), Whole(make, 100));
  EXPECT_EQ(Whole(make, 100).makespan, 1001_us);
}

// The host is 100 us ahead and loses 2 us with each micro-batch, but nothing has waited for it yet.
TEST(RepetitionHostTest, AHostThatFallsBehindIsSeenBeforeItHoldsAnythingBack) {
  const std::vector<Task> gather = {{100_us, {}}};
  const Launched make = {.pass = {1_us, 6_us}, .before = gather};
  EXPECT_EQ(Whole(make, 4).makespan, 140_us);
  EXPECT_EQ(Whole(make, 100).makespan, 200 * 6_us);
  ExpectNotTold(make, 4, 100, 10_us);
  const Launched since_the_last_period = {.pass = {1_us, 6_us}, .before = gather, .first = 2};
  ExpectNotTold(since_the_last_period, 4, 100, 10_us);
}

// The host turns to the update at 32 us and launches it for 20 us, while the passes end at 40 us.
// With 100 micro-batches it turns to the update 200 us before the passes end.
TEST(RepetitionHostTest, AHostThatGetsAheadMayDelayTheEndOfShortStepsOnly) {
  const Launched make = {.pass = {0_us, 4_us}, .after = {{1_us, {20_us, 20_us}}}};
  EXPECT_EQ(Whole(make, 4).makespan, 53_us);
  EXPECT_EQ(Whole(make, 100).makespan, 1001_us);
  ExpectNotTold(make, 4, 100, 10_us);
}

// The same for the task before one for which the host waits.
TEST(RepetitionHostTest, AHostThatGetsAheadMayBeLateForTheEndOfShortStepsOnly) {
  const std::vector<Task> after = {{1_us, {0_us, 30_us}}, {1_us, {0_us, 1_us, true}}};
  const Launched make = {.pass = {0_us, 4_us}, .after = after};
  EXPECT_EQ(Whole(make, 4).makespan, 63_us);
  EXPECT_EQ(Whole(make, 100).makespan, 1002_us);
  ExpectNotTold(make, 4, 100, 10_us);
}

// A forward of 1 us begins every 20 us, and its host needs 16 us for it but starts 18 us late: of
// five forwards it delays all but the last. Backwards wait for longer messages.
TEST(RepetitionHostTest, AHostThatGetsAheadMayDelayTheLastPeriodOfShortStepsOnly) {
  const auto make = [](int micro_batches) {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    const Lane next = step.AddLane(LaneKind::kSendNext);
    const Lane other = step.AddLane(LaneKind::kContext);
    const Tag once = TagOf(Phase::kParamGather, kNoMicroBatch);
    step.SetLaunch(step.Add(lane, once, 1_us), {0_us, 18_us});
    for (int k = 0; k < micro_batches; ++k) {
      const TaskId sent = step.Add(next, TagOf(Phase::kSendForward, k), 20_us);
      const TaskId context = step.Add(other, TagOf(Phase::kContext, k), 16_us, {sent});
      step.Add(other, TagOf(Phase::kFetch, k), 3_us);
      const TaskId pass = step.Add(lane, TagOf(Phase::kForward, k), 1_us, {sent});
      step.SetLaunch(pass, {16_us, 16_us});
      step.Add(lane, TagOf(Phase::kBackward, k), 2_us, {context});
    }
    return step.Build();
  };
  const auto forwards = [&](int micro_batches) {
    return Whole(make, micro_batches).sums.at({0, Phase::kForward}).time;
  };
  EXPECT_EQ(forwards(5), 5_us + (14_us + 10_us + 6_us + 2_us));
  EXPECT_EQ(forwards(100), 100_us + (14_us + 10_us + 6_us + 2_us));
  EXPECT_EQ(Told(make, 5, 100), std::nullopt);
}

// The host waits for the first task after the passes, so what it launches next is equally late in
// every step.
TEST(RepetitionHostTest, ATaskThatTheHostWaitsForMakesEarlierLaunchesIrrelevant) {
  const std::vector<Task> after = {{1_us, {0_us, 1_us, true}}, {1_us, {20_us, 20_us}}};
  const Launched make = {.pass = {0_us, 4_us}, .after = after};
  EXPECT_EQ(Told(make, 4, 100), Whole(make, 100));
  EXPECT_EQ(Whole(make, 100).makespan, 1022_us);
}

// A reduction follows the passes, on a lane that has run nothing before.
TEST(RepetitionHostTest, TheHostOfAnIdleLaneMayDelayTheEndOfShortStepsOnly) {
  const auto make = [](int micro_batches) {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    const Lane data = step.AddLane(LaneKind::kData);
    const TaskId last = AddPasses(step, lane, micro_batches, 5_us, 5_us);
    const Tag tag = TagOf(Phase::kGradReduce, kNoMicroBatch);
    step.SetLaunch(step.Add(data, tag, 1_us, {last}), {60_us, 60_us});
    return step.Build();
  };
  EXPECT_EQ(Whole(make, 4).makespan, 61_us);
  EXPECT_EQ(Whole(make, 100).makespan, 1001_us);
  ExpectNotTold(make, 4, 100, 10_us);
}

}  // namespace
}  // namespace stagecraft
