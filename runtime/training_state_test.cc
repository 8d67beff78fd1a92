#include "runtime/training_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/rank_work.h"
#include "runtime/stateful_work.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

constexpr Bytes kSize(80'000);  // 10,000 weights and as much momentum

// Returns a state that has seen updates of these sizes.
TrainingState After(const std::vector<Bytes>& updates, int rank = 0) {
  TrainingState state(kSize, rank);
  for (const Bytes moved : updates) state.Update(moved);
  return state;
}

bool AreEqual(const TrainingState& a, const TrainingState& b) {
  return std::ranges::equal(a.values(), b.values()) && a.Fingerprint() == b.Fingerprint();
}

// An update of 16 bytes reads a weight and its momentum, which are 0, and writes both.
TEST(TrainingStateTest, AnUpdateMovesAWeightAlongItsMomentum) {
  const TrainingState before(kSize, 0), after = After({Bytes(16)});
  const float momentum = after.values()[10'000];
  EXPECT_NE(momentum, 0);
  EXPECT_EQ(after.values()[0], before.values()[0] - 0.01f * momentum);
  EXPECT_EQ(after.values()[1], before.values()[1]);
  EXPECT_EQ(after.values()[10'001], 0);
}

TEST(TrainingStateTest, StatesOfARankAreEqualAfterTheSameUpdatesOnly) {
  const Bytes all(160'000), half(80'000);
  EXPECT_TRUE(AreEqual(After({all, half}), After({all, half})));
  EXPECT_FALSE(AreEqual(After({all, half}), After({half, all})));
  EXPECT_FALSE(AreEqual(After({all}), After({all, all})));
  EXPECT_FALSE(AreEqual(After({all}), After({all}, 1)));
}

TEST(TrainingStateTest, UpdatesGoAround) {
  const TrainingState once = After({Bytes(160'000)}), further = After({Bytes(160'016)});
  EXPECT_EQ(once.progress().position, 0);
  EXPECT_EQ(further.progress().position, 1);
  EXPECT_NE(once.values()[0], further.values()[0]);
  EXPECT_EQ(once.values()[1], further.values()[1]);
}

TEST(TrainingStateTest, AStateThatWasKeptGoesOnAsIfNothingHadHappened) {
  const Bytes some(100'000);
  const TrainingState kept = After({some, some});
  TrainingState resumed(kSize, 0);
  std::ranges::copy(kept.values(), resumed.values().begin());
  resumed.Resume(kept.progress());
  resumed.Update(some);
  EXPECT_TRUE(AreEqual(resumed, After({some, some, some})));
}

TEST(TrainingStateTest, ARankMayKeepNothing) {
  TrainingState state(Bytes(), 0);
  state.Update(Bytes(1000));
  EXPECT_TRUE(state.values().empty());
}

class CountedWork : public RankWork {
 public:
  void Run(TaskId, int) override { ++runs_; }
  std::span<float> Buffer(TaskId, int) override { return {}; }
  int runs() const { return runs_; }

 private:
  int runs_ = 0;
};

TEST(StatefulWorkTest, OpsOfTheOptimizerUpdateTheStateAndNoOthers) {
  Schedule::Builder builder;
  builder.AddRank({.device = 0});
  const Lane lane = builder.AddLane({0, LaneKind::kCompute});
  Op optimizer = Op::Elementwise(Bytes(160));
  optimizer.kind = OpKind::kOptimizer;
  const std::vector<OpId> ops = {builder.AddOp(Op::Elementwise(Bytes(160))),
                                 builder.AddOp(optimizer)};
  const TaskId task = builder.Add({&lane, 1}, {}, builder.AddOpSequence(ops), Tag());
  const Schedule schedule = builder.Build();
  CountedWork work;
  TrainingState state(kSize, 0);
  StatefulWork stateful(schedule, work, state);
  stateful.Run(task, 0);
  EXPECT_EQ(work.runs(), 1);
  EXPECT_EQ(state.progress().updates, 0);
  stateful.Run(task, 1);
  EXPECT_EQ(work.runs(), 1);
  EXPECT_TRUE(AreEqual(state, After({Bytes(160)})));
}

}  // namespace
}  // namespace stagecraft
