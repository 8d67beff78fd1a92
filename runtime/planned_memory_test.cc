#include "runtime/planned_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// A schedule of passes of one rank, on its compute lane.
struct OneRank {
  Schedule::Builder builder;
  Lane compute;

  OneRank() {
    builder.AddRank({.device = 0, .stage = 0, .replica = 0});
    compute = builder.AddLane({0, LaneKind::kCompute});
  }
  TaskId Pass(Phase phase, int micro_batch, int segment = 0, int chunk = 0) {
    return builder.Add({&compute, 1}, {}, -1,
                       {.rank = 0,
                        .stage = 0,
                        .chunk = static_cast<int16_t>(chunk),
                        .micro_batch = micro_batch,
                        .phase = phase,
                        .segment = static_cast<uint8_t>(segment)});
  }
};

// The most bytes that are allocated at once, and those that are left at the end.
struct Walked {
  int64_t most = 0;
  int64_t left = 0;
};
Walked Walk(const Schedule& schedule, const std::map<TaskId, TaskAllocations>& allocations) {
  Walked walked;
  std::map<int32_t, int64_t> held;
  const auto allocate = [&](const std::vector<Allocation>& all) {
    for (const Allocation& one : all) {
      EXPECT_TRUE(held.emplace(one.block, one.bytes.count()).second);
      walked.left += one.bytes.count();
    }
    walked.most = std::max(walked.most, walked.left);
  };
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const auto own = allocations.find(task);
    if (own == allocations.end()) continue;
    allocate(own->second.at_begin);
    for (const int32_t block : own->second.freed) {
      EXPECT_EQ(held.count(block), 1u);
      walked.left -= held[block];
      held.erase(block);
    }
    allocate(own->second.at_end);
  }
  return walked;
}

// A forward holds 30 bytes and leaves 20; a backward holds 15 more and frees those 20.
const PlannedMemory kWhole = {.states = Bytes(100),
                              .chunks = {{{{Bytes(30), 20}, {Bytes(15), -20}, {}, {}}}}};

TEST(PlannedMemoryTest, WhatForwardsLeaveIsHeldUntilTheirBackwards) {
  OneRank rank;
  const TaskId first = rank.Pass(Phase::kForward, 0);
  rank.Pass(Phase::kForward, 1);
  rank.Pass(Phase::kBackward, 0);
  rank.Pass(Phase::kBackward, 1);
  const Schedule schedule = rank.builder.Build();
  const auto allocations = PassAllocations(schedule, 0, kWhole);
  // 20 bytes from each forward and 15 of a backward.
  EXPECT_EQ(Walk(schedule, allocations).most, 55);
  EXPECT_EQ(Walk(schedule, allocations).left, 0);
  ASSERT_EQ(allocations.at(first).at_begin.size(), 2u);
  EXPECT_EQ(allocations.at(first).at_begin[0].bytes, Bytes(20));
  EXPECT_EQ(allocations.at(first).at_begin[1].bytes, Bytes(10));
  EXPECT_EQ(allocations.at(first).freed.size(), 1u);
}

// The weight gradient frees what the input gradient has not freed.
TEST(PlannedMemoryTest, EachHalfOfABackwardFreesItsShare) {
  OneRank rank;
  rank.Pass(Phase::kForward, 0);
  rank.Pass(Phase::kBackwardInput, 0);
  const TaskId other = rank.Pass(Phase::kForward, 1);
  rank.Pass(Phase::kBackwardWeight, 0);
  rank.Pass(Phase::kBackwardInput, 1);
  rank.Pass(Phase::kBackwardWeight, 1);
  const Schedule schedule = rank.builder.Build();
  const PlannedMemory memory = {
      .states = {}, .chunks = {{{{Bytes(20), 20}, {}, {Bytes(5), -12}, {Bytes(0), -8}}}}};
  const auto allocations = PassAllocations(schedule, 0, memory);
  EXPECT_EQ(Walk(schedule, allocations).most, 28);  // 8 of micro-batch 0, 20 of the other
  EXPECT_EQ(Walk(schedule, allocations).left, 0);
  EXPECT_EQ(allocations.at(other).at_begin[0].bytes, Bytes(20));
}

TEST(PlannedMemoryTest, ADividedPassHoldsItsMemoryFromItsFirstTaskToItsLast) {
  OneRank rank;
  const TaskId begin = rank.Pass(Phase::kForward, 0, 0);
  const TaskId middle = rank.Pass(Phase::kForward, 0, 1);
  const TaskId end = rank.Pass(Phase::kForward, 0, 2);
  const Schedule schedule = rank.builder.Build();
  const auto allocations = PassAllocations(schedule, 0, kWhole);
  EXPECT_EQ(allocations.at(begin).at_begin.size(), 2u);
  EXPECT_TRUE(allocations.at(begin).freed.empty());
  EXPECT_EQ(allocations.count(middle), 0u);
  // No backward follows, so what the forward left is freed at the end of the step.
  EXPECT_EQ(allocations.at(end).freed.size(), 2u);
}

TEST(PlannedMemoryTest, AChunkThatThePlanDoesNotKnowIsRefused) {
  OneRank rank;
  rank.Pass(Phase::kForward, 0, 0, 1);
  const Schedule schedule = rank.builder.Build();
  EXPECT_THROW(PassAllocations(schedule, 0, kWhole), InputError);
}

}  // namespace
}  // namespace stagecraft
