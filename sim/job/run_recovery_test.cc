// Runs that go on with spare nodes, fewer replicas or another plan.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/random.h"
#include "sim/job/job_run.h"
#include "sim/job/job_testing.h"
#include "sim/job/replicas.h"

namespace stagecraft {
namespace {

using Lines = std::vector<std::string>;
using Policy = Recovery::Policy;
using What = ClusterEvent::What;

class RunRecoveryTest : public testing::Test {
 protected:
  RunSpec Spec(Policy policy, int64_t steps) {
    RunSpec spec = SmallRun(cluster_, steps);
    spec.checkpoint = {};
    spec.recovery.policy = policy;
    if (policy == Policy::kShrink) {
      spec.step = [this](const ClusterState& state, int) { return ShrunkenStep(state); };
    }
    return spec;
  }
  // Each node is a replica; one of two takes twice as long.
  std::optional<RunningStep> ShrunkenStep(const ClusterState& state) const {
    const int live = static_cast<int>(LiveReplicas(replicas_, state).size());
    if (live == 0) return std::nullopt;
    return RunningStep{Seconds(20.0 / live), 8 * live};
  }
  History Simulate(const RunSpec& spec) { return SimulateRun(spec, Random(1)); }

  const Cluster cluster_ = SwitchedNodes(2);
  const std::vector<std::vector<int>> replicas_ = {Range(0, 8), Range(8, 8)};
};

TEST_F(RunRecoveryTest, ASpareNodeTakesThePlaceOfAFailedOne) {
  RunSpec spec = Spec(Policy::kSpare, 2);
  spec.recovery.spare_nodes = 1;
  spec.recovery.swap = Seconds(6);
  spec.events = {Fails(5, DeviceNumber(1))};
  const History history = Simulate(spec);
  EXPECT_EQ(PhaseLines(history),
            (Lines{"redone 0+0 until 5", "detection 0+0 until 7", "waiting 0+0 until 13",
                   "restart 0+0 until 16", "reload 0+0 until 20", "computing 0+2 until 40"}));
  EXPECT_EQ(history.phases[2].reason, "a spare node replaces node0");
}

TEST_F(RunRecoveryTest, ARunWithoutSparesLeftWaitsForARepair) {
  RunSpec spec = Spec(Policy::kSpare, 2);
  spec.recovery.spare_nodes = 1;
  spec.events = {Fails(5, DeviceNumber(1)), Fails(20, DeviceNumber(9)),
                 Recovers(30, DeviceNumber(1))};
  // The node that is repaired at 30 s is the spare one for the second.
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"redone 0+0 until 5", "detection 0+0 until 7", "restart 0+0 until 10",
                   "reload 0+0 until 14", "redone 0+0 until 20", "detection 0+0 until 22",
                   "waiting 0+0 until 30", "restart 0+0 until 33", "reload 0+0 until 37",
                   "computing 0+2 until 57"}));
  spec.events.pop_back();
  EXPECT_THROW(Simulate(spec), RunCannotContinue);
}

TEST_F(RunRecoveryTest, ARepairDuringTheSwapKeepsTheSpare) {
  RunSpec spec = Spec(Policy::kSpare, 2);
  spec.recovery.spare_nodes = 1;
  spec.recovery.swap = Seconds(6);
  spec.events = {Fails(5, NodeNumber(1)), Recovers(9, NodeNumber(1)), Fails(21, NodeNumber(0))};
  EXPECT_EQ(Simulate(spec).totals.time, Seconds(21 + 2 + 6 + 7 + 20));
}

TEST_F(RunRecoveryTest, AShrunkenRunGrowsAgain) {
  RunSpec spec = Spec(Policy::kShrink, 8);
  spec.recovery.survivors_hold_state = true;
  spec.events = {Fails(12, NodeNumber(1)), Recovers(100, NodeNumber(1))};
  const History history = Simulate(spec);
  EXPECT_EQ(PhaseLines(history),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 12", "detection 1+0 until 14",
                   "restart 1+0 until 17", "computing 1+5 until 117", "restart 6+0 until 120",
                   "reload 6+0 until 124", "computing 6+2 until 144"}));
  EXPECT_EQ(history.phases[4].working_devices, 8);
  EXPECT_EQ(history.phases[4].step_time, Seconds(20));
  EXPECT_EQ(history.totals.Lost(PhaseKind::kComputing), Seconds(50));
}

TEST_F(RunRecoveryTest, AShrunkenRunReloadsIfStatesAreShared) {
  RunSpec spec = Spec(Policy::kShrink, 3);
  spec.events = {Fails(12, NodeNumber(1))};
  EXPECT_EQ(Simulate(spec).totals.time, Seconds(12 + 2 + 3 + 4 + 60));
}

TEST_F(RunRecoveryTest, AFailureInADroppedReplicaChangesNothing) {
  RunSpec spec = Spec(Policy::kShrink, 3);
  spec.events = {Fails(12, DeviceNumber(8)), Fails(30, DeviceNumber(9)),
                 Recovers(40, DeviceNumber(8))};  // which alone does not bring the replica back
  const History history = Simulate(spec);
  EXPECT_EQ(history.totals.failures, 1);
  EXPECT_EQ(history.totals.time, Seconds(12 + 2 + 3 + 4 + 60));
}

TEST_F(RunRecoveryTest, AFailureWhileTheRunGrowsShrinksItAgain) {
  RunSpec spec = Spec(Policy::kShrink, 4);
  spec.recovery.survivors_hold_state = true;
  spec.events = {Fails(10.5, NodeNumber(1)), Recovers(20, NodeNumber(1)), Fails(37, NodeNumber(1))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 10.5", "detection 1+0 until 12.5",
                   "restart 1+0 until 15.5", "computing 1+1 until 35.5", "restart 2+0 until 37",
                   "detection 2+0 until 39", "restart 2+0 until 42", "computing 2+2 until 82"}));
}

TEST_F(RunRecoveryTest, TheLossOfARackBelowTheLeastDevicesEndsTheRun) {
  RunSpec spec = Spec(Policy::kShrink, 4);
  spec.nodes_per_rack = 2;
  spec.events = {Fails(12, RackNumber(0))};
  try {
    Simulate(spec);
    FAIL();
  } catch (const RunCannotContinue& error) {
    EXPECT_STREQ(error.what(),
                 "the run stops at 14.0 s with 0 of 4 steps: rack0 failed; 0 of the 16 devices of "
                 "the plan are left, and nothing that is still to happen lets the plan run again");
  }
  // If it returns, the state is lost all the same, even if survivors hold it.
  spec.recovery.survivors_hold_state = true;
  spec.events.push_back(Recovers(20, RackNumber(0)));
  EXPECT_EQ(Simulate(spec).totals.time, Seconds(20 + 3 + 4 + 40));
}

TEST_F(RunRecoveryTest, ARunMovesToAnotherPlanAfterAFailure) {
  RunSpec spec = Spec(Policy::kReplan, 3);
  spec.replan = [](const ClusterState& state, int) {
    std::optional<Replanned> plan;
    if (state.down.size() == 8) plan = {{Seconds(15), 8}, Seconds(7)};
    return plan;
  };
  spec.step = [](const ClusterState& state, int network) {
    return state.down.empty() ? TenSecondStep(state, network) : std::nullopt;
  };
  spec.events = {Fails(12, NodeNumber(1)), Recovers(40, NodeNumber(1))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 12", "detection 1+0 until 14",
                   "restart 0+0 until 17", "reload 0+0 until 21", "rebalancing 0+0 until 28",
                   "redone 0+1 until 43", "restart 1+0 until 46", "reload 1+0 until 50",
                   "computing 1+2 until 70"}));
}

TEST_F(RunRecoveryTest, AFailureDuringAMoveStartsTheRecoveryAgain) {
  RunSpec spec = Spec(Policy::kReplan, 1);
  spec.replan = [](const ClusterState& state, int) {
    return std::optional(
        Replanned{{Seconds(15), 16 - static_cast<int>(state.down.size())}, Seconds(7)});
  };
  spec.events = {Fails(5, DeviceNumber(1)), Fails(15, DeviceNumber(2))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"redone 0+0 until 5", "detection 0+0 until 7", "restart 0+0 until 10",
                   "reload 0+0 until 14", "rebalancing 0+0 until 15", "detection 0+0 until 17",
                   "restart 0+0 until 20", "reload 0+0 until 24", "rebalancing 0+0 until 31",
                   "computing 0+1 until 46"}));
}

TEST_F(RunRecoveryTest, ARunMovesToAnotherPlanBesideASlowDevice) {
  RunSpec spec = Spec(Policy::kReplan, 3);
  spec.replan = [](const ClusterState&, int) {
    return std::optional(Replanned{{Seconds(12), 16}, Seconds(1)});
  };
  spec.events = {At(5, DeviceNumber(1), What::kSlow, 0.5)};
  EXPECT_EQ(PhaseLines(Simulate(spec)), (Lines{"computing 0+1 until 10", "rebalancing 1+0 until 11",
                                               "computing 1+2 until 35"}));
}

TEST_F(RunRecoveryTest, AReplicaIsLiveIfAllItsDevicesAre) {
  ClusterState state;
  EXPECT_EQ(LiveReplicas(replicas_, state), (std::vector<int>{0, 1}));
  state.down = {3};
  EXPECT_EQ(LiveReplicas(replicas_, state), (std::vector<int>{1}));
}

}  // namespace
}  // namespace stagecraft
