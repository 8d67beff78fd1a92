#include "search/training/trained_states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "costmodel/device.h"
#include "costmodel/error_of.h"
#include "search/training/plan_division.h"
#include "search/training/training_testing.h"
#include "sim/memory/stage_memory.h"

namespace stagecraft {
namespace {

BalancePolicy ByTruth(Balancer balancer) {
  BalancePolicy policy;
  policy.balancer = balancer;
  policy.by = LoadBasis::kTrueTime;
  policy.profiling_share = 0;
  return policy;
}

TEST(TrainedStatesTest, ANetworkThatDoesNotChangeHasOneState) {
  const SmallPipeline small;
  const std::vector<TrainedState> states = TrainStates(small.JobWith({})).states;
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].cost.Total(), Duration());
  EXPECT_EQ(
      states[0].evaluation.step_time,
      SimulateStep(small.plan, small.workload, small.cluster, small.model).evaluation.step_time);
}

// Half of the blocks only run forward, so the last stages take most of the time; balanced by the
// truth, no stage takes much longer than the mean.
TEST(TrainedStatesTest, LayersMoveToStagesThatAreFrozen) {
  const SmallPipeline small;
  const std::vector<NetworkChange> changes = {Frozen(small.workload, 300, 13)};
  const std::vector<TrainedState> still = TrainStates(small.JobWith(changes)).states;
  ASSERT_EQ(still.size(), 2u);
  EXPECT_FALSE(still[1].moves);
  EXPECT_LT(still[1].evaluation.step_time, still[0].evaluation.step_time);
  for (const Balancer balancer : {Balancer::kPartition, Balancer::kDiffusion}) {
    const std::vector<TrainedState> moved =
        TrainStates(small.JobWith(changes, ByTruth(balancer))).states;
    ASSERT_EQ(moved.size(), 2u);
    EXPECT_TRUE(moved[1].moves) << moved[1].decision;
    EXPECT_GT(moved[1].cost.move, Duration());
    EXPECT_GT(moved[1].cost.decision, Duration());
    EXPECT_GT(DivisionOf(moved[1].plan)[0], DivisionOf(still[1].plan)[0]);
    const double gain =
        still[1].evaluation.step_time.seconds() / moved[1].evaluation.step_time.seconds();
    EXPECT_GT(gain, 1.15);
    EXPECT_LT(gain, still[1].Imbalance());
  }
}

TEST(TrainedStatesTest, MaskedWeightsSaveNothing) {
  const SmallPipeline small;
  NetworkChange change = Frozen(small.workload, 10, 0);
  for (LayerState& state : change.states) state.weight_density = 0.1;
  const std::vector<TrainedState> states = TrainStates(small.JobWith({change})).states;
  EXPECT_EQ(states[1].evaluation.step_time, states[0].evaluation.step_time);
}

TEST(TrainedStatesTest, BlocksThatTakeTurnsMoveNothing) {
  const SmallPipeline small;
  NetworkChange change = Frozen(small.workload, 10, 0);
  for (int block = 2; block <= 24; block += 2) change.states[block].token_share = 0.125;
  const std::vector<TrainedState> states =
      TrainStates(small.JobWith({change}, ByTruth(Balancer::kPartition))).states;
  EXPECT_FALSE(states[1].moves) << states[1].decision;
}

// With one micro-batch a step gains little, and the network between nodes is slow.
TEST(TrainedStatesTest, AMoveThatDoesNotPayIsNotMade) {
  SmallPipeline small;
  small.cluster = MakeCluster(4, 1);
  PlanDegrees degrees = Degrees(1, 4);
  degrees.global_batch = degrees.micro_batch;
  small.plan = MakePlan(degrees, small.workload, small.cluster);
  BalancePolicy policy = ByTruth(Balancer::kPartition);
  policy.only_if_worth = true;
  for (const auto& [steps, moves] : {std::pair(1, false), {600, true}}) {
    const std::vector<NetworkChange> changes = {Frozen(small.workload, 300, 13),
                                                Frozen(small.workload, 300 + steps, 0)};
    const std::vector<TrainedState> states = TrainStates(small.JobWith(changes, policy)).states;
    EXPECT_EQ(states[1].moves, moves) << states[1].decision;
    if (moves) continue;
    EXPECT_NE(states[1].decision.find("1 steps are less than the move"), std::string::npos)
        << states[1].decision;
  }
}

TEST(TrainedStatesTest, StagesThatAreNotNeededAreFreed) {
  const SmallPipeline small;
  NetworkChange change = Frozen(small.workload, 300, 0);
  for (int block = 4; block <= 24; ++block) change.states[block].token_share = 0.05;
  BalancePolicy policy = ByTruth(Balancer::kPartition);
  policy.repacks = true;
  policy.repack_loss = 0.2;
  const std::vector<TrainedState> states = TrainStates(small.JobWith({change}, policy)).states;
  EXPECT_LT(states[1].plan.stages.size(), 4u) << states[1].decision;
  EXPECT_LT(states[1].devices(), 4);
  const int freed = 4 - states[1].devices();
  EXPECT_NE(states[1].decision.find(std::to_string(freed) + " of 4 stages are freed"),
            std::string::npos);
  History history;
  history.totals.devices = 4;
  for (const auto& [first_step, hours] :
       {std::pair<int64_t, int>(0, 1), {300, 2}, {299, 5}, {600, 3}}) {
    RunPhase& phase = history.phases.emplace_back();
    phase.first_step = first_step;
    phase.length = Duration::Seconds(3600 * hours);
  }
  EXPECT_DOUBLE_EQ(FreedGpuHours(states, history), 5.0 * freed);
}

// What the fewest stages that keep the pace need is a byte more than a device has. Samples are
// short, so that weights and optimizer states are most of the memory.
TEST(TrainedStatesTest, OnlySoManyStagesAreFreedThatTheOthersFitMemory) {
  SmallPipeline small;
  small.workload = UntiedGpt(24, 2048);
  PlanDegrees degrees = Degrees(1, 4);
  degrees.global_batch = 64;
  degrees.sequence = 16;
  small.plan = MakePlan(degrees, small.workload, small.cluster);
  NetworkChange change = Frozen(small.workload, 300, 0);
  for (int block = 4; block <= 24; ++block) change.states[block].token_share = 0.02;
  BalancePolicy policy = ByTruth(Balancer::kPartition);
  policy.repacks = true;
  policy.repack_loss = 0.5;
  const TrainedState packed = TrainStates(small.JobWith({change}, policy)).states[1];
  const size_t least = packed.plan.stages.size();
  ASSERT_LT(least, 3u) << packed.decision;
  Bytes most;
  for (const StageMemory& stage : packed.evaluation.memory) most = std::max(most, stage.Peak());
  small.cluster = small.cluster.WithDevices(
      [&](Device& device) { device.memory = Bytes(most.count() / 32 * 31); });
  const TrainedState fitting = TrainStates(small.JobWith({change}, policy)).states[1];
  EXPECT_EQ(fitting.plan.stages.size(), least + 1) << fitting.decision;
  EXPECT_TRUE(fitting.moves);
}

TEST(TrainedStatesTest, StatesBeforeOneThatCannotBeTrainedAreKept) {
  const SmallPipeline small;
  const TrainedStates trained =
      TrainStates(small.JobWith({Frozen(small.workload, 3, 13), Frozen(small.workload, 5, 26),
                                 Frozen(small.workload, 7, 0)}));
  ASSERT_EQ(trained.states.size(), 2u);
  EXPECT_EQ(trained.states[1].step, 3);
  ASSERT_NE(trained.failure, nullptr);
  const std::string error = ErrorOf([&] { std::rethrow_exception(trained.failure); });
  EXPECT_NE(error.find("the network from step 5 on: got all 26 layers"), std::string::npos)
      << error;
}

TEST(TrainedStatesTest, ARunThatCannotBeginIsASentence) {
  const SmallPipeline small;
  const std::string error =
      ErrorOf([&] { TrainStates(small.JobWith({Frozen(small.workload, 0, 26)})); });
  EXPECT_NE(error.find("the network from step 0 on: got all 26 layers"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace stagecraft
