#include "runtime/step_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace stagecraft {
namespace {

// Two ranks with a compute lane each.
struct TwoRanks {
  Schedule::Builder builder;
  Lane first, second;

  TwoRanks() {
    for (int32_t r = 0; r < 2; ++r) builder.AddRank({.device = r, .stage = 0, .replica = 0});
    first = builder.AddLane({0, LaneKind::kCompute});
    second = builder.AddLane({1, LaneKind::kCompute});
  }
  TaskId Add(std::vector<Lane> lanes, std::vector<TaskId> after = {},
             OpSequenceId op_sequence = -1) {
    return builder.Add(lanes, after, op_sequence, {.rank = 0});
  }
};

void Alone(std::span<int64_t>) {}

// Recorded times are moved no further than necessary to make a timeline of the schedule.
TEST(SettleTimesTest, NothingBeginsBeforeWhatItWaitsForHasEnded) {
  TwoRanks ranks;
  const TaskId first = ranks.Add({ranks.first});
  const TaskId second = ranks.Add({ranks.first});
  const TaskId other = ranks.Add({ranks.second}, {first});
  const Schedule schedule = ranks.builder.Build();
  const Timeline timeline = SettleTimes(schedule, {10_us, 19_us, 18_us}, {20_us, 30_us, 19_us});
  EXPECT_EQ(timeline.start(second), 20_us);
  EXPECT_EQ(timeline.end(second), 30_us);
  EXPECT_EQ(timeline.start(other), 20_us);
  EXPECT_EQ(timeline.end(other), 20_us);
  EXPECT_EQ(timeline.start(first), 10_us);
}

// rank 0: [pass 0-30] [   collective 40-52]
// rank 1: [pass 5-20]      [collective 45-50]
TEST(StepTimesTest, PassesEndWithTheLastRankAndCollectivesWithTheFirst) {
  TwoRanks ranks;
  Fabric pair;
  pair.ranks = 2;
  const OpId op = ranks.builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(8), pair));
  const TaskId pass = ranks.Add({ranks.first, ranks.second});
  const TaskId collective =
      ranks.Add({ranks.first, ranks.second}, {}, ranks.builder.AddOpSequence({&op, 1}));
  const Schedule schedule = ranks.builder.Build();
  const std::vector<StepRecord> seen[] = {{{0_us, 30_us}, {40_us, 52_us}},
                                          {{5_us, 20_us}, {45_us, 50_us}}};
  const auto expect = [&](const Timeline& timeline) {
    EXPECT_EQ(timeline.start(pass), 5_us);
    EXPECT_EQ(timeline.end(pass), 30_us);
    EXPECT_EQ(timeline.start(collective), 45_us);
    EXPECT_EQ(timeline.end(collective), 50_us);
  };
  StepTimes both(schedule);
  for (int r = 0; r < 2; ++r) both.Add(MakeRankProgram(schedule, r), seen[r]);
  expect(both.Join(Alone));

  // With one process for each rank, each process gets the maximum over all.
  std::vector<std::vector<int64_t>> other;
  StepTimes second(schedule);
  second.Add(MakeRankProgram(schedule, 1), seen[1]);
  second.Join([&](std::span<int64_t> values) { other.emplace_back(values.begin(), values.end()); });
  StepTimes first(schedule);
  first.Add(MakeRankProgram(schedule, 0), seen[0]);
  size_t next = 0;
  expect(first.Join([&](std::span<int64_t> values) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], other[next][i]);
    ++next;
  }));
}

}  // namespace
}  // namespace stagecraft
