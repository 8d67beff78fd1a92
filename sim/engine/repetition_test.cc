// Steps that repeat themselves, and steps that only look as if they did.
#include "sim/engine/repetition.h"

#include <gtest/gtest.h>

#include <optional>

#include "sim/engine/repetition_testing.h"

namespace stagecraft {
namespace {

// lane 0: [F0 1us][B0 2us][F1][B1][F2][B2][F3][B3]
//                                 repeats |cut
HandMadeStep Alternating(int micro_batches) {
  StepBuilder step;
  AddPasses(step, step.AddLane(LaneKind::kCompute), micro_batches, 1_us, 2_us);
  return step.Build();
}

TEST(RepetitionTest, EveryMicroBatchMoreTakesAForwardAndABackwardMore) {
  const HandMadeStep step = Alternating(4);
  const auto found = FindRepetition(step.schedule, ReplayStep(step), {}, 996, 1);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->times, 996);
  EXPECT_EQ(found->period, 3_us);
  EXPECT_EQ(found->Delay(), 2988_us);
  const int64_t counts[] = {1, 1, 1, 1, 997, 997, 1, 1};
  for (int entry = 0; entry < 8; ++entry) EXPECT_EQ(found->Count(0, entry), counts[entry]);
  EXPECT_EQ(Told(Alternating, 4, 1000), Whole(Alternating, 1000));
  EXPECT_EQ(Whole(Alternating, 1000).makespan, 3000_us);
}

TEST(RepetitionTest, WithoutLanesOrForwardsThereIsNothingToRepeat) {
  EXPECT_EQ(Told([](int) { return StepBuilder().Build(); }, 4, 100), std::nullopt);
  const auto backwards = [](int micro_batches) {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    for (int k = 0; k < micro_batches; ++k) step.Add(lane, TagOf(Phase::kBackward, k), 1_us);
    return step.Build();
  };
  EXPECT_EQ(Told(backwards, 4, 100), std::nullopt);
}

// Two micro-batches are in flight: their passes of 2 us and messages of 3 us form a cycle of 14 us.
// The first of them begins 10 us after the micro-batch before it, the second 4 us.
HandMadeStep TwoStages(int micro_batches) {
  StepBuilder step;
  const Lane first = step.AddLane(LaneKind::kCompute);
  const Lane forth = step.AddLane(LaneKind::kSendNext);
  const Lane last = step.AddLane(LaneKind::kCompute);
  const Lane back = step.AddLane(LaneKind::kSendPrevious);
  TaskId gradients = -1;
  for (int k = 0; k <= micro_batches; ++k) {
    const TaskId before = gradients;
    if (k < micro_batches) {
      const TaskId pass = step.Add(first, TagOf(Phase::kForward, k), 2_us);
      const TaskId sent = step.Add(forth, TagOf(Phase::kSendForward, k), 3_us, {pass});
      step.Add(last, TagOf(Phase::kForward, k), 2_us, {sent});
      const TaskId turned = step.Add(last, TagOf(Phase::kBackward, k), 2_us);
      gradients = step.Add(back, TagOf(Phase::kSendBackward, k), 3_us, {turned});
    }
    if (k > 0) step.Add(first, TagOf(Phase::kBackward, k - 1), 2_us, {before});
  }
  return step.Build();
}

TEST(RepetitionTest, APipelineThatWaitsForItsMessagesIsTold) {
  EXPECT_EQ(Told(TwoStages, 8, 100), Whole(TwoStages, 100));
  EXPECT_EQ(Whole(TwoStages, 100).makespan, Whole(TwoStages, 8).makespan + 46 * 14_us);
}

// That two micro-batches take 14 us says nothing about one.
TEST(RepetitionTest, MicroBatchesThatAreNoWholeNumberOfPeriodsAreNotTold) {
  EXPECT_EQ(Told(TwoStages, 8, 101), std::nullopt);
}

// Groups of two micro-batches: forwards through chunks 0 and 1, then backwards through 1 and 0. A
// second lane runs the same 1 us later.
MakeStep Interleaved(bool has_second_lane) {
  return [=](int micro_batches) {
    StepBuilder step;
    const Lane first = step.AddLane(LaneKind::kCompute);
    std::optional<Lane> second;
    if (has_second_lane) second = step.AddLane(LaneKind::kCompute);
    const auto run = [&](Phase phase, int group, int chunk) {
      for (const int k : {group, group + 1}) {
        const TaskId pass = step.Add(first, TagOf(phase, k, chunk), 1_us);
        if (second) step.Add(*second, TagOf(phase, k, chunk), 1_us, {pass});
      }
    };
    for (int group = 0; group < micro_batches; group += 2) {
      run(Phase::kForward, group, 0);
      run(Phase::kForward, group, 1);
      run(Phase::kBackward, group, 1);
      run(Phase::kBackward, group, 0);
    }
    return step.Build();
  };
}

// At the cut the lanes have just run a forward of the 7th micro-batch through chunk 1 and one of
// the 8th through chunk 0. The task 7 us earlier on the first lane belongs to the group before, at
// another place of the order.
TEST(RepetitionTest, OrdersThatTakeMicroBatchesInGroupsRepeatGroups) {
  for (const bool has_second_lane : {false, true}) {
    const MakeStep make = Interleaved(has_second_lane);
    EXPECT_EQ(Told(make, 8, 100, 2), Whole(make, 100));
    EXPECT_EQ(Whole(make, 100).makespan, (has_second_lane ? 401_us : 400_us));
  }
}

// lane 0: [F0 1us][B0 5us         ][F1][B1
// lane 1:         [F0.0 5us       ][F0.1][B0][F1.0      the cut is between parts of a pass
TEST(RepetitionTest, PartsOfAPassRepeatTheSameParts) {
  const auto make = [](int micro_batches) {
    StepBuilder step;
    const Lane first = step.AddLane(LaneKind::kCompute);
    const Lane second = step.AddLane(LaneKind::kCompute);
    for (int k = 0; k < micro_batches; ++k) {
      const TaskId pass = step.Add(first, TagOf(Phase::kForward, k), 1_us);
      step.Add(first, TagOf(Phase::kBackward, k), 5_us);
      step.Add(second, TagOf(Phase::kForward, k, 0, 0), 5_us, {pass});
      step.Add(second, TagOf(Phase::kForward, k, 0, 1), 500_ns);
      step.Add(second, TagOf(Phase::kBackward, k), 500_ns);
    }
    return step.Build();
  };
  EXPECT_EQ(Told(make, 5, 100), Whole(make, 100));
}

// lane 0: [F0 1us][F1][F2][F3][B0 2us][B1][B2][B3]
TEST(RepetitionTest, ForwardsAloneAreNoPeriod) {
  const auto make = [](int micro_batches) {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    for (int k = 0; k < micro_batches; ++k) step.Add(lane, TagOf(Phase::kForward, k), 1_us);
    for (int k = 0; k < micro_batches; ++k) step.Add(lane, TagOf(Phase::kBackward, k), 2_us);
    return step.Build();
  };
  ExpectNotTold(make, 4, 100, 1_us);
}

// lane 0: [F0 2us][B0 2us][F1    ][B1    ][F2 ...
// lane 1: [F0 1us][F1][F2] ... [B0 4us    ][B1 ...
TEST(RepetitionTest, BackwardsAloneAreNoPeriod) {
  const auto make = [](int micro_batches) {
    StepBuilder step;
    const Lane first = step.AddLane(LaneKind::kCompute);
    const Lane second = step.AddLane(LaneKind::kCompute);
    AddPasses(step, first, micro_batches, 2_us, 2_us);
    for (int k = 0; k < micro_batches; ++k) step.Add(second, TagOf(Phase::kForward, k), 1_us);
    for (int k = 0; k < micro_batches; ++k) step.Add(second, TagOf(Phase::kBackward, k), 4_us);
    return step.Build();
  };
  ExpectNotTold(make, 8, 100, 4_us);
}

// The update waits for the passes and for one other task, which begins with the step.
MakeStep BesidePasses(int micro_batch, Duration duration) {
  return [=](int micro_batches) {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    const Lane data = step.AddLane(LaneKind::kData);
    const TaskId gather = step.Add(data, TagOf(Phase::kParamGather, micro_batch), duration);
    AddPasses(step, lane, micro_batches, 1_us, 2_us);
    step.Add(lane, TagOf(Phase::kOptimizer, kNoMicroBatch), 1_us, {gather});
    return step.Build();
  };
}

TEST(RepetitionTest, WhatHappensOnceMustBeOverBeforeThePeriod) {
  const MakeStep brief = BesidePasses(kNoMicroBatch, 5_us);
  EXPECT_EQ(Told(brief, 4, 100), Whole(brief, 100));
  EXPECT_EQ(Whole(BesidePasses(kNoMicroBatch, 100_us), 4).makespan, 101_us);
  EXPECT_EQ(Whole(BesidePasses(kNoMicroBatch, 100_us), 100).makespan, 301_us);
  ExpectNotTold(BesidePasses(kNoMicroBatch, 100_us), 4, 100, 3_us);
}

// lane 0: [F0 1us][B0 2us][F1][B1][F2][B2][F3][B3]
// lane 1: [gather 9us                    ][gather 1000us ...      begins with the cut
TEST(RepetitionTest, WhatFollowsWhatHappensOnceBeginsNoLaterWithMoreMicroBatches) {
  const auto make = [](int micro_batches) {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    const Lane data = step.AddLane(LaneKind::kData);
    AddPasses(step, lane, micro_batches, 1_us, 2_us);
    for (const Duration duration : {9_us, 1000_us}) {
      step.Add(data, TagOf(Phase::kParamGather, kNoMicroBatch), duration);
    }
    return step.Build();
  };
  EXPECT_EQ(Whole(make, 4).makespan, 1009_us);
  EXPECT_EQ(Whole(make, 100).makespan, 1009_us);
  ExpectNotTold(make, 4, 100, 3_us);
}

TEST(RepetitionTest, WhatOneMicroBatchAloneRunsIsNotRepeated) {
  ExpectNotTold(BesidePasses(0, 100_us), 4, 100, 3_us);
}

// Forwards take 3 and 1 us in turn, and backwards 4 us; they also run other ops.
TEST(RepetitionTest, TasksOfOtherOpsDoNotRepeatEachOther) {
  const auto make = [](int micro_batches) {
    StepBuilder step;
    const Lane lane = step.AddLane(LaneKind::kCompute);
    for (int k = 0; k < micro_batches; ++k) {
      step.Add(lane, TagOf(Phase::kForward, k), (k % 2 == 0 ? 3_us : 1_us), {}, k % 2);
      step.Add(lane, TagOf(Phase::kBackward, k), 4_us, {}, 2 + k % 2);
    }
    return step.Build();
  };
  EXPECT_EQ(Told(make, 6, 100), Whole(make, 100));
  EXPECT_EQ(Told(make, 6, 101), std::nullopt);
}

// How the micro-batches of one parity send, and when the task that their message waits for ends.
struct Sending {
  Duration prepared;  // after the forward
  Launch launch;
  Duration duration;
  Phase phase = Phase::kSendForward;
};

// A message and a reduction share a lane. The update waits for the task that the last message
// waited for, or for that message.
//   compute [forward 5us      ][backward.0 2us][backward.1 3us]
//   other                      [prepared?][ready 500ns]
//   data                        ...[message ][reduction 1us]
MakeStep Sendings(const Sending& even, const Sending& odd, bool update_waits_for_message) {
  return [=](int micro_batches) {
    StepBuilder step;
    const Lane compute = step.AddLane(LaneKind::kCompute);
    const Lane data = step.AddLane(LaneKind::kData);
    const Lane other = step.AddLane(LaneKind::kContext);
    const Lane last = step.AddLane(LaneKind::kHostOut);
    TaskId awaited = -1;
    for (int k = 0; k < micro_batches; ++k) {
      const Sending& sending = k % 2 == 0 ? even : odd;
      const TaskId pass = step.Add(compute, TagOf(Phase::kForward, k), 5_us);
      const TaskId turned = step.Add(compute, TagOf(Phase::kBackward, k, 0, 0), 2_us);
      step.Add(compute, TagOf(Phase::kBackward, k, 0, 1), 3_us);
      const TaskId prepared = step.Add(other, TagOf(Phase::kContext, k), sending.prepared, {pass});
      step.Add(other, TagOf(Phase::kFetch, k), 500_ns, {turned});
      const TaskId message = step.Add(data, TagOf(sending.phase, k), sending.duration, {prepared});
      step.SetLaunch(message, sending.launch);
      step.Add(data, TagOf(Phase::kGradReduce, k), 1_us, {turned});
      awaited = update_waits_for_message ? message : prepared;
    }
    step.Add(last, TagOf(Phase::kOptimizer, kNoMicroBatch), 100_us, {awaited});
    return step.Build();
  };
}

// The message of one parity lasts 1 us longer, is delayed by its host, is another one, or begins
// 1 us later. The last tasks of the lanes do not show this.
TEST(RepetitionTest, CutsAgreeInAllThatEndsAfterTheEarliestLastTask) {
  const Launch at_once = {0_us, 1_us, true};
  const Launch held_up = {1_us, 1_us, true};
  const Sending usual = {0_us, at_once, 1_us};
  for (const Sending& odd : {Sending{0_us, at_once, 2_us}, Sending{0_us, held_up, 1_us}}) {
    const MakeStep make = Sendings(usual, odd, true);
    EXPECT_EQ(Told(make, 6, 10), Whole(make, 10));
    ExpectNotTold(make, 6, 9, 10_us);
  }
  const Sending other_work = {0_us, at_once, 1_us, Phase::kSendBackward};
  EXPECT_EQ(Told(Sendings(usual, other_work, true), 6, 9), std::nullopt);
  const MakeStep later = Sendings({0_us, held_up, 1_us}, {1_us, at_once, 1_us}, false);
  ExpectNotTold(later, 6, 9, 10_us);
}

}  // namespace
}  // namespace stagecraft
