#include "sim/schedule/deadlock.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

// Two ranks that each run a forward and a backward, in any order. Rank 1 needs the forward of rank
// 0, rank 0 the backward of rank 1.
class TwoRanks {
 public:
  TwoRanks() {
    zero_ = schedule_.AddLane({0, LaneKind::kCompute});
    one_ = schedule_.AddLane({1, LaneKind::kCompute});
  }

  TaskId AddTask(int rank, Phase phase) {
    Tag tag;
    tag.rank = rank;
    tag.micro_batch = 0;
    tag.phase = phase;
    return schedule_.Add({rank == 0 ? &zero_ : &one_, 1}, {}, -1, tag);
  }
  void AddDependency(TaskId before, TaskId after) { schedule_.AddDependency(before, after); }
  Schedule Build() { return schedule_.Build(); }

 private:
  Schedule::Builder schedule_;
  Lane zero_, one_;
};

TEST(DeadlockTest, OrdersThatAgreeHaveNone) {
  TwoRanks ranks;
  const TaskId f0 = ranks.AddTask(0, Phase::kForward);
  const TaskId b0 = ranks.AddTask(0, Phase::kBackward);
  const TaskId f1 = ranks.AddTask(1, Phase::kForward);
  const TaskId b1 = ranks.AddTask(1, Phase::kBackward);
  ranks.AddDependency(f0, f1);
  ranks.AddDependency(b1, b0);
  EXPECT_EQ(ErrorOf([&] { CheckForDeadlock(ranks.Build()); }), "");
}

TEST(DeadlockTest, ACircleIsReadFromOneOfItsTasksRoundToTheFirst) {
  TwoRanks ranks;
  const TaskId b0 = ranks.AddTask(0, Phase::kBackward);
  const TaskId f0 = ranks.AddTask(0, Phase::kForward);
  const TaskId f1 = ranks.AddTask(1, Phase::kForward);
  const TaskId b1 = ranks.AddTask(1, Phase::kBackward);
  ranks.AddDependency(f0, f1);
  ranks.AddDependency(b1, b0);
  EXPECT_EQ(ErrorOf([&] { CheckForDeadlock(ranks.Build()); }),
            "deadlock: backward of micro-batch 0 on rank 0 waits for backward of "
            "micro-batch 0 on rank 1, which waits for forward of micro-batch 0 on rank 1, "
            "which waits for forward of micro-batch 0 on rank 0, which waits for the first");
}

TEST(DeadlockTest, AScheduleWithoutTasksHasNone) {
  EXPECT_EQ(ErrorOf([] { CheckForDeadlock(Schedule::Builder().Build()); }), "");
}

}  // namespace
}  // namespace stagecraft
