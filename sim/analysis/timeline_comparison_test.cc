#include "sim/analysis/timeline_comparison.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

// Two ranks with a compute lane each; the first also has a lane to the next stage.
struct Job {
  Job() {
    for (int16_t stage = 0; stage < 2; ++stage) {
      builder.AddRank({.device = stage, .stage = stage});
      compute.push_back(builder.AddLane({stage, LaneKind::kCompute}));
    }
    send = builder.AddLane({0, LaneKind::kSendNext});
    gemm = builder.AddOp(Op::Gemm(DType::kBf16, 2, 3, 5));
    norm = builder.AddOp(Op::Elementwise(Bytes(12)));
  }

  TaskId Add(Phase phase, Lane lane, std::vector<OpId> ops = {}, std::vector<TaskId> after = {},
             std::vector<uint8_t> flags = {}) {
    const OpSequenceId op_sequence = ops.empty() ? -1 : builder.AddOpSequence(ops, flags);
    return AddRun(phase, lane, op_sequence, std::move(after));
  }

  TaskId AddRun(Phase phase, Lane lane, OpSequenceId op_sequence, std::vector<TaskId> after = {}) {
    Tag tag;
    tag.phase = phase;
    tag.rank = lane == compute[1] ? 1 : 0;
    const Lane lanes[] = {lane};
    return builder.Add(lanes, after, op_sequence, tag);
  }

  // Consumes the builder. The times are the start and end of each task in us.
  using Times = std::vector<std::pair<int64_t, int64_t>>;
  void Build(const Times& predicted_times, const Times& measured_times) {
    predicted.schedule = builder.Build();
    measured.schedule = predicted.schedule;
    predicted.timeline = Make(predicted_times);
    measured.timeline = Make(measured_times);
  }
  TimelineComparison Compare() const { return CompareTimelines(predicted, measured); }

  static Timeline Make(const Times& times) {
    std::vector<Duration> start, end;
    for (const auto& [from, to] : times) {
      start.push_back(Duration::Nanoseconds(1000 * from));
      end.push_back(Duration::Nanoseconds(1000 * to));
    }
    return {start, end};
  }

  Schedule::Builder builder;
  std::vector<Lane> compute;
  Lane send{};
  OpId gemm = -1, norm = -1;
  TimelineRecord predicted, measured;
};

// rank 0: [a 10us] as measured 20us      rank 1: [b 20us] as measured
TEST(TimelineComparisonTest, ErrorsAreOfSumsAndOfTasks) {
  Job job;
  job.Add(Phase::kForward, job.compute[0]);
  job.Add(Phase::kForward, job.compute[1]);
  job.Build({{0, 10}, {0, 20}}, {{0, 20}, {0, 20}});
  const TimelineComparison comparison = job.Compare();
  EXPECT_EQ(comparison.step.predicted, 20_us);
  EXPECT_EQ(comparison.step.Error(), 0.0);
  ASSERT_EQ(comparison.phases.size(), 1u);
  EXPECT_EQ(comparison.phases[0].phase, Phase::kForward);
  EXPECT_EQ(comparison.phases[0].tasks, 2);
  EXPECT_EQ(comparison.phases[0].time.predicted, 30_us);
  EXPECT_EQ(comparison.phases[0].time.measured, 40_us);
  EXPECT_DOUBLE_EQ(*comparison.phases[0].time.Error(), -0.25);
  EXPECT_DOUBLE_EQ(*comparison.phases[0].median_absolute_error, 0.25);  // the median of 0.5 and 0
  EXPECT_FALSE(comparison.phases[0].median_sigma);
  EXPECT_EQ(comparison.worst_first, (std::vector<TaskId>{0, 1}));
}

// A rank that stands for three devices counts three times: so a folded schedule's sums are
// those of all its devices.
TEST(TimelineComparisonTest, SumsAreOverDevices) {
  Schedule::Builder s;
  s.AddRank({.device = 0, .multiplicity = 3});
  const Lane lanes[] = {s.AddLane({0, LaneKind::kCompute}), s.AddLane({0, LaneKind::kData})};
  s.Add(lanes, {}, -1, {});
  TimelineRecord record;
  record.schedule = s.Build();
  record.timeline = Job::Make({{0, 10}});
  EXPECT_EQ(CompareTimelines(record, record).phases[0].time.predicted, 30_us);
  EXPECT_EQ(TimeByOpClass(record, record)[0].time.measured, 30_us);
}

TEST(TimelineComparisonTest, TasksWithoutMeasuredTimeHaveNoError) {
  Job job;
  job.Add(Phase::kForward, job.compute[0]);
  job.Add(Phase::kForward, job.compute[1]);
  job.Build({{0, 10}, {0, 10}}, {{0, 0}, {0, 20}});
  const PhaseTime forward = job.Compare().phases[0];
  EXPECT_DOUBLE_EQ(*forward.median_absolute_error, 0.5);  // of one task alone
  EXPECT_FALSE(DurationOf(job.predicted, job.measured, 0).Error());
}

TEST(TimelineComparisonTest, WhatStepsVaryByIsSummarised) {
  Job job;
  job.Add(Phase::kForward, job.compute[0]);
  job.Build({{0, 10}}, {{0, 10}});
  Measurement& measurement = job.measured.measurement.emplace();
  measurement.steps = {10_us, 12_us, 14_us};
  measurement.task_sigma = {1_us};
  const TimelineComparison comparison = job.Compare();
  EXPECT_EQ(comparison.step_mean, 12_us);
  EXPECT_EQ(comparison.step_sigma, 2_us);
  EXPECT_DOUBLE_EQ(*comparison.phases[0].median_sigma, 0.1);
}

// a: gemm 6us and norm 4us, twice as long as predicted; b: gemm 6us, as predicted.
Job Mixed() {
  Job job;
  job.Add(Phase::kForward, job.compute[0], {job.gemm, job.norm});
  job.Add(Phase::kForward, job.compute[0], {job.gemm});
  job.Build({{0, 10}, {10, 16}}, {{0, 20}, {20, 26}});
  return job;
}

TEST(OpClassTimesTest, ATasksTimeIsDividedAsPredicted) {
  Job job = Mixed();
  job.predicted.op_times = {{{6_us, 4_us}}, {0, 0}};
  const std::vector<OpClassTime> times = job.Compare().op_classes;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].kind, OpKind::kGemm);
  EXPECT_EQ(times[0].tasks, 2);
  EXPECT_EQ(times[0].time.predicted, 12_us);
  EXPECT_EQ(times[0].time.measured, 18_us);
  EXPECT_DOUBLE_EQ(times[0].exact, 0.5);
  EXPECT_EQ(times[1].kind, OpKind::kElementwise);
  EXPECT_EQ(times[1].tasks, 1);
  EXPECT_EQ(times[1].time.predicted, 4_us);
  EXPECT_EQ(times[1].time.measured, 8_us);
  EXPECT_EQ(times[1].exact, 0);
}

TEST(OpClassTimesTest, WhereOpTimesAreNotKnownMixedTasksAreOneRow) {
  const std::vector<OpClassTime> times = Mixed().Compare().op_classes;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].kind, OpKind::kGemm);
  EXPECT_EQ(times[0].time.measured, 6_us);
  EXPECT_EQ(times[0].exact, 1);
  EXPECT_FALSE(times[1].kind);
  EXPECT_EQ(times[1].time.measured, 20_us);
}

// The norm runs beside the gemm and is hidden by it.
TEST(OpClassTimesTest, WhatIsHiddenTakesNothing) {
  Job job;
  job.Add(Phase::kForward, job.compute[0], {job.norm, job.gemm}, {}, {kOverlapsNext, 0});
  job.Build({{0, 6}}, {{0, 9}});
  job.predicted.op_times = {{{6_us, 4_us}}, {0, 0}};
  const std::vector<OpClassTime> times = job.Compare().op_classes;
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].time.measured, 9_us);
  EXPECT_EQ(times[0].exact, 0);  // it is not known which took longer
}

// predicted: rank 0 [a 3us][send 2us]          measured: c takes 8us, b follows it
//            rank 1 [c 1us]          [b 4us]             after a pause of 1us
TEST(TimelineComparisonTest, CriticalPathsStandSideBySide) {
  Job job;
  const TaskId a = job.Add(Phase::kForward, job.compute[0]);
  const TaskId send = job.Add(Phase::kSendForward, job.send, {}, {a});
  job.Add(Phase::kBackward, job.compute[1]);
  job.Add(Phase::kForward, job.compute[1], {}, {send});
  job.Build({{0, 3}, {3, 5}, {0, 1}, {5, 9}}, {{0, 3}, {3, 5}, {0, 8}, {9, 13}});
  const PathComparison path = job.Compare().path;
  EXPECT_EQ(path.predicted_tasks, 3);
  EXPECT_EQ(path.measured_tasks, 2);
  EXPECT_EQ(path.common_tasks, 1);
  ASSERT_EQ(path.phases.size(), 4u);
  const auto expect = [&](size_t row, std::optional<Phase> phase, Duration predicted,
                          Duration measured) {
    EXPECT_EQ(path.phases[row].phase, phase);
    EXPECT_EQ(path.phases[row].time.predicted, predicted);
    EXPECT_EQ(path.phases[row].time.measured, measured);
  };
  expect(0, Phase::kForward, 7_us, 4_us);
  expect(1, Phase::kBackward, 0_us, 8_us);
  expect(2, Phase::kSendForward, 2_us, 0_us);
  expect(3, std::nullopt, 0_us, 1_us);
  ASSERT_EQ(path.ranks.size(), 2u);
  EXPECT_EQ(path.ranks[0].rank, 0);
  EXPECT_EQ(path.ranks[0].time.predicted, 5_us);
  EXPECT_EQ(path.ranks[0].time.measured, 0_us);
  EXPECT_EQ(path.ranks[1].time.measured, 13_us);
}

// rank 0: [a 10us][b 10us][c 10us]     b, beside the send, takes 15us as measured
//                 [send 10us]
Job Overlapped(bool is_one_block) {
  Job job;
  const OpSequenceId op_sequence = job.builder.AddOpSequence(std::vector<OpId>{job.gemm});
  const OpSequenceId other = job.builder.AddOpSequence(std::vector<OpId>{job.gemm});
  const TaskId a = job.AddRun(Phase::kForward, job.compute[0], op_sequence);
  job.AddRun(Phase::kForward, job.compute[0], is_one_block ? op_sequence : other);
  job.AddRun(Phase::kForward, job.compute[0], op_sequence);
  job.Add(Phase::kSendForward, job.send, {}, {a});
  job.Build({{0, 10}, {10, 20}, {20, 30}, {10, 20}}, {{0, 10}, {10, 25}, {25, 35}, {10, 20}});
  return job;
}

TEST(OverlapSlowDownTest, PassesBesideAMessageAreSetAgainstThoseAlone) {
  const TimelineComparison comparison = Overlapped(true).Compare();
  EXPECT_DOUBLE_EQ(*comparison.predicted_slow_down.ratio, 1.0);
  EXPECT_DOUBLE_EQ(*comparison.measured_slow_down.ratio, 1.5);
  EXPECT_EQ(comparison.measured_slow_down.beside, 1);
  EXPECT_EQ(comparison.measured_slow_down.alone, 2);
  EXPECT_EQ(comparison.measured_slow_down.unmatched, 0);
  EXPECT_DOUBLE_EQ(*comparison.slow_down.ratio, 1.5);
}

TEST(OverlapSlowDownTest, WhereNoBlockRunsBothWaysThePredictionLinksThem) {
  const TimelineComparison comparison = Overlapped(false).Compare();
  EXPECT_FALSE(comparison.measured_slow_down.ratio);
  EXPECT_EQ(comparison.measured_slow_down.unmatched, 1);
  EXPECT_DOUBLE_EQ(*comparison.slow_down.ratio, 1.5);
  EXPECT_EQ(comparison.slow_down.alone, 2);
}

// The message covers a fifth of c: c runs neither beside it nor alone.
TEST(OverlapSlowDownTest, PassesInBetweenAreNotCompared) {
  Job job = Overlapped(true);
  job.measured.timeline = Job::Make({{0, 10}, {10, 20}, {20, 40}, {10, 24}});
  const OverlapSlowDown slow_down = job.Compare().measured_slow_down;
  EXPECT_EQ(slow_down.beside, 1);
  EXPECT_EQ(slow_down.alone, 1);
  EXPECT_DOUBLE_EQ(*slow_down.ratio, 1.0);
}

// Everything is twice as slow as predicted, so nothing is slowed down by what runs beside it.
TEST(OverlapSlowDownTest, AGpuThatIsSlowerThroughoutDoesNotCount) {
  Job job = Overlapped(false);
  job.measured.timeline = Job::Make({{0, 20}, {20, 40}, {40, 60}, {20, 40}});
  EXPECT_DOUBLE_EQ(*job.Compare().slow_down.ratio, 1.0);
}

// predicted: rank 0 [a 10us]                  measured: rank 0 [a 20us      ]
//            rank 1     [b 5us][optimizer]              rank 1      [b 5us][optimizer]
TEST(TimelineComparisonTest, RanksHaveTheirIdleShareAndTheirMemory) {
  Job job;
  job.Add(Phase::kForward, job.compute[0]);
  job.Add(Phase::kForward, job.compute[1]);
  job.Add(Phase::kOptimizer, job.compute[1]);  // no pass
  job.Build({{0, 10}, {5, 10}, {10, 30}}, {{0, 20}, {15, 20}, {20, 30}});
  job.predicted.peak_memory = {Bytes(300), Bytes(100)};
  job.measured.peak_memory = {Bytes(200), Bytes(0)};
  const TimelineComparison comparison = job.Compare();
  ASSERT_EQ(comparison.ranks.size(), 2u);
  EXPECT_EQ(comparison.ranks[0].passes.measured, 20_us);
  EXPECT_DOUBLE_EQ(*comparison.ranks[0].PeakError(), 0.5);
  EXPECT_FALSE(comparison.ranks[1].PeakError());  // not measured
  EXPECT_EQ(comparison.ranks[1].rank, 1);
  EXPECT_DOUBLE_EQ(comparison.ranks[1].predicted_idle, 0.5);
  EXPECT_DOUBLE_EQ(comparison.ranks[1].measured_idle, 0.75);
  EXPECT_DOUBLE_EQ(comparison.predicted_idle, 0.25);
  EXPECT_DOUBLE_EQ(comparison.measured_idle, 0.375);
}

// Task b waits for a, on another rank, whose clock runs 2us ahead.
TEST(TimelineComparisonTest, StartsBeforeWhatIsWaitedForAreCounted) {
  Job job;
  const TaskId a = job.Add(Phase::kForward, job.compute[0]);
  job.Add(Phase::kForward, job.compute[1], {}, {a});
  job.Build({{0, 10}, {10, 20}}, {{0, 10}, {8, 18}});
  EXPECT_EQ(job.Compare().early_starts.tasks, 1);
  EXPECT_EQ(job.Compare().early_starts.most, 2_us);
  job.measured.timeline = job.predicted.timeline;
  EXPECT_EQ(job.Compare().early_starts.tasks, 0);
}

TEST(TimelineComparisonTest, AnEmptyScheduleHasNothingToCompare) {
  const TimelineComparison comparison = CompareTimelines({}, {});
  EXPECT_FALSE(comparison.step.Error());
  EXPECT_TRUE(comparison.phases.empty());
  EXPECT_TRUE(comparison.path.phases.empty());
}

}  // namespace
}  // namespace stagecraft
