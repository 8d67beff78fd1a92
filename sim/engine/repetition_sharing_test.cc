// Steps whose messages stretch each other: the durations of a second replay depend on what ran side
// by side in the first.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "sim/engine/repetition.h"
#include "sim/engine/repetition_testing.h"

namespace stagecraft {
namespace {

bool AreSideBySide(const Timeline& timeline, TaskId a, TaskId b) {
  return timeline.start(a) < timeline.end(b) && timeline.start(b) < timeline.end(a);
}

// A reduction takes 8 us, or 16 us beside a gather of 43 us. The first reduction without the gather
// is that of the last micro-batch but one, which is also the last that begins before the cut of the
// first replay. With the gather, each second forward waits for reductions, which run one after
// another:
//   compute [F0 4us][B0 6us   ][F1][B1   ]      [F2][B2   ]
//   data            [reduction 16us          ]  [reduction
HandMadeStep Gathering(int micro_batches, Duration gathering) {
  StepBuilder step;
  const Lane compute = step.AddLane(LaneKind::kCompute);
  const Lane data = step.AddLane(LaneKind::kData);
  const Lane other = step.AddLane(LaneKind::kSendNext);
  const Tag once = TagOf(Phase::kParamGather, kNoMicroBatch);
  const TaskId gather = step.Add(other, once, gathering);
  std::vector<TaskId> reductions;
  for (int k = 0; k < micro_batches; ++k) {
    const TaskId pass = step.Add(compute, TagOf(Phase::kForward, k), 4_us);
    if (k > 1) step.AddDependency(reductions[k - 2], pass);
    step.Add(compute, TagOf(Phase::kBackward, k), 6_us);
    reductions.push_back(step.Add(data, TagOf(Phase::kGradReduce, k), 8_us, {pass}));
  }
  HandMadeStep built = step.Build();
  built.share = [=](const Timeline& alone, std::vector<Duration>& durations) {
    for (const TaskId reduction : reductions) {
      if (AreSideBySide(alone, reduction, gather)) durations[reduction] += 8_us;
    }
  };
  return built;
}

TEST(RepetitionSharingTest, TasksBetweenTheCutsOfTwoReplaysTakeAsLongAsAPeriodBefore) {
  const auto without = [](int micro_batches) { return Gathering(micro_batches, 1_us); };
  EXPECT_EQ(Told(without, 6, 100), Whole(without, 100));
  const auto make = [](int micro_batches) { return Gathering(micro_batches, 43_us); };
  EXPECT_EQ(Whole(make, 6).makespan, 84_us);
  ExpectNotTold(make, 6, 100, 16_us);
}

// What one micro-batch runs, before messages are stretched. In the second replay each message of
// 2 us takes 12 us, so that reductions have ended before the cut that began after it:
//   compute  [forward 4us]              [backward.0 8us][backward.1 6us]
//   next                  [message 2us]                  [message 2us]
//   data                  [gather 18us                  ][norm 1us][reduction 1us]
// The first cut comes while a gather runs, the second after the reduction.
struct Shifting {
  Phase last_norm = Phase::kGradNorm;  // of the last micro-batch but one
  bool has_copy = false;               // after its last backward: for 4 us
  bool has_fetch = false;              // after the gather of the fourth: for 4 us
  Duration gather_loses = {};          // beside a copy
  Duration copy_loses = {};            // beside a fetch

  HandMadeStep operator()(int micro_batches) const {
    StepBuilder step;
    const Lane compute = step.AddLane(LaneKind::kCompute);
    const Lane next = step.AddLane(LaneKind::kSendNext);
    const Lane data = step.AddLane(LaneKind::kData);
    const Lane out = step.AddLane(LaneKind::kHostOut);
    const Lane in = step.AddLane(LaneKind::kHostIn);
    std::vector<TaskId> messages, gathers, copies, fetches;
    for (int k = 0; k < micro_batches; ++k) {
      const bool is_last = k == micro_batches - 2;
      const TaskId pass = step.Add(compute, TagOf(Phase::kForward, k), 4_us);
      const TaskId sent = step.Add(next, TagOf(Phase::kSendForward, k), 2_us, {pass});
      const TaskId turned = step.Add(compute, TagOf(Phase::kBackward, k, 0, 0), 8_us, {sent});
      const TaskId ended = step.Add(compute, TagOf(Phase::kBackward, k, 0, 1), 6_us);
      step.Add(next, TagOf(Phase::kSendBackward, k), 2_us, {turned});
      const TaskId gather = step.Add(data, TagOf(Phase::kParamGather, k), 18_us, {pass});
      const Phase norm = is_last ? last_norm : Phase::kGradNorm;
      step.Add(data, TagOf(norm, k), 1_us, {turned});
      step.Add(data, TagOf(Phase::kGradReduce, k), 1_us);
      messages.push_back(sent);
      gathers.push_back(gather);
      const auto once = [](Phase phase) { return TagOf(phase, kNoMicroBatch); };
      if (has_copy && is_last) {
        copies.push_back(step.Add(out, once(Phase::kOffload), 4_us, {ended}));
      }
      if (has_fetch && k == 3) {
        fetches.push_back(step.Add(in, once(Phase::kFetch), 4_us, {gather}));
      }
    }
    HandMadeStep built = step.Build();
    built.share = [=, *this](const Timeline& alone, std::vector<Duration>& durations) {
      for (const TaskId message : messages) durations[message] += 10_us;
      for (const TaskId copy : copies) {
        for (const TaskId gather : gathers) {
          if (AreSideBySide(alone, gather, copy)) durations[gather] += gather_loses;
        }
        for (const TaskId fetch : fetches) {
          if (AreSideBySide(alone, fetch, copy)) durations[copy] += copy_loses;
        }
      }
    };
    return built;
  }
};

TEST(RepetitionSharingTest, ReplaysWhoseCutsFallBetweenOtherTasksAreTold) {
  const Shifting make;
  EXPECT_EQ(Told(make, 5, 100), Whole(make, 100));
  EXPECT_EQ(Whole(make, 100).makespan, 100 * 30_us);
}

// The gather beside the copy takes 2 us longer. In every step that is the gather of the last
// micro-batch but one.
TEST(RepetitionSharingTest, WhatRunsAtTheCutTakesAsLongAsAPeriodBefore) {
  const Shifting make = {.has_copy = true, .gather_loses = 2_us};
  EXPECT_EQ(Told(make, 5, 100), std::nullopt);
  const Shifting unshared = {.has_copy = true};
  EXPECT_EQ(Told(unshared, 5, 100), Whole(unshared, 100));
}

// The task that differs is between the two cuts.
TEST(RepetitionSharingTest, TasksBetweenTheCutsOfTwoReplaysAreThoseOfAPeriodBefore) {
  const Shifting make = {.last_norm = Phase::kOptimizer};
  EXPECT_EQ(Told(make, 5, 100), std::nullopt);
}

// The fetch comes after the cut of the first replay and before that of the second. It belongs to
// the fourth micro-batch, which runs beside the copy only in a step of five.
TEST(RepetitionSharingTest, TasksThatRunOnceAreOnTheSameSideOfBothCuts) {
  const Shifting make = {.has_copy = true, .has_fetch = true, .copy_loses = 300_us};
  ExpectNotTold(make, 5, 100, 30_us);
}

}  // namespace
}  // namespace stagecraft
