// Runs that go on with spare nodes, fewer replicas or another plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
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
    const std::vector<int> live = LiveReplicas(replicas_, state);
    const int count = static_cast<int>(live.size());
    if (count == 0) return std::nullopt;
    return RunningStep{Seconds(20.0 / count), 8 * count, IdleDevices(replicas_, live, state)};
  }
  History Simulate(const RunSpec& spec) { return SimulateRun(spec, Random(1)); }

  // Returns the phases of a run that shrinks, and whose survivors hold the state.
  Lines ShrunkenPhases(int64_t steps, const std::vector<ClusterEvent>& events) {
    RunSpec spec = Spec(Policy::kShrink, steps);
    spec.recovery.survivors_hold_state = true;
    spec.events = events;
    return PhaseLines(Simulate(spec));
  }

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
                 Recovers(40, DeviceNumber(8))};  // This alone does not bring the replica back.
  const History history = Simulate(spec);
  EXPECT_EQ(history.totals.failures, 1);
  EXPECT_EQ(history.totals.time, Seconds(12 + 2 + 3 + 4 + 60));
}

TEST_F(RunRecoveryTest, AFailureWhileTheRunGrowsShrinksItAgain) {
  EXPECT_EQ(ShrunkenPhases(4, {Fails(10.5, NodeNumber(1)), Recovers(20, NodeNumber(1)),
                               Fails(37, NodeNumber(1))}),
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
                   "rebalancing 1+0 until 57", "computing 1+2 until 77"}));
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

TEST_F(RunRecoveryTest, ANodeThatReturnsBeforeItsFailureIsNoticedLoadsTheState) {
  EXPECT_EQ(ShrunkenPhases(3, {Fails(12, NodeNumber(1)), Recovers(13, NodeNumber(1))}),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 12", "detection 1+0 until 13",
                   "detection 1+0 until 14", "restart 1+0 until 17", "reload 1+0 until 21",
                   "computing 1+2 until 41"}));
}

TEST_F(RunRecoveryTest, AStateThatNoReplicaHoldsIsLost) {
  // Node 1 has returned, but without the state, when node 0 fails.
  EXPECT_EQ(ShrunkenPhases(2, {Fails(12, NodeNumber(1)), Recovers(13, NodeNumber(1)),
                               Fails(13.5, NodeNumber(0))}),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 12", "detection 1+0 until 13",
                   "detection 1+0 until 13.5", "detection 1+0 until 14", "restart 0+0 until 17",
                   "reload 0+0 until 21", "redone 0+1 until 41", "computing 1+1 until 61"}));
}

TEST_F(RunRecoveryTest, AStateIsLostIfItsHolderFailsWhileOthersLoadIt) {
  EXPECT_EQ(ShrunkenPhases(3, {Fails(10.5, NodeNumber(1)), Recovers(20, NodeNumber(1)),
                               Fails(39, NodeNumber(0))}),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 10.5", "detection 1+0 until 12.5",
                   "restart 1+0 until 15.5", "computing 1+1 until 35.5", "restart 2+0 until 38.5",
                   "reload 2+0 until 39", "detection 2+0 until 41", "restart 0+0 until 44",
                   "reload 0+0 until 48", "redone 0+2 until 88", "computing 2+1 until 108"}));
}

TEST_F(RunRecoveryTest, AReloadThatAFailureBreaksOffStartsAgain) {
  RunSpec spec = Spec(Policy::kShrink, 1);
  spec.recovery.survivors_hold_state = true;
  spec.nodes_per_rack = 2;
  spec.events = {Fails(5, RackNumber(0)), Recovers(20, RackNumber(0)), Fails(25, NodeNumber(1))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"redone 0+0 until 5", "detection 0+0 until 7", "waiting 0+0 until 20",
                   "restart 0+0 until 23", "reload 0+0 until 25", "detection 0+0 until 27",
                   "restart 0+0 until 30", "reload 0+0 until 34", "computing 0+1 until 54"}));
}

TEST_F(RunRecoveryTest, ANodeThatReturnsDuringTheRestartIsTakenIn) {
  RunSpec spec = Spec(Policy::kShrink, 3);
  spec.events = {Fails(12, NodeNumber(1)), Recovers(15.5, NodeNumber(1))};
  const Lines want = {"computing 0+1 until 10", "redone 1+0 until 12",     "detection 1+0 until 14",
                      "restart 0+0 until 15.5", "restart 0+0 until 18.5",  "reload 0+0 until 22.5",
                      "redone 0+1 until 32.5",  "computing 1+2 until 52.5"};
  EXPECT_EQ(PhaseLines(Simulate(spec)), want);
}

TEST_F(RunRecoveryTest, SurvivorsKeepTheirStateWhileALinkIsDown) {
  RunSpec spec = Spec(Policy::kShrink, 3);
  spec.recovery.survivors_hold_state = true;
  spec.step = TenSecondStep;
  spec.events = {Fails(15, LinkNumber(0)), Recovers(30, LinkNumber(0))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 15", "waiting 1+0 until 17",
                   "waiting 1+0 until 30", "restart 1+0 until 33", "computing 1+2 until 53"}));
}

TEST_F(RunRecoveryTest, StepsOfAFasterPlanLoseLessThanNothing) {
  RunSpec spec = Spec(Policy::kReplan, 3);
  spec.checkpoint = {Seconds(10), Seconds(1), /*is_asynchronous=*/true, /*slowdown=*/0.5};
  spec.replan = [](const ClusterState&, int) {
    return std::optional(Replanned{{Seconds(8), 16}, Seconds(1)});
  };
  spec.events = {At(5, DeviceNumber(1), What::kSlow, 0.5)};
  const RunTotals totals = Simulate(spec).totals;
  EXPECT_EQ(totals.useful, Seconds(30));
  EXPECT_EQ(totals.Lost(PhaseKind::kComputing), Seconds(-4));
  // A write takes half a second from the step beside it, and the last one stops the run.
  EXPECT_EQ(totals.Lost(PhaseKind::kCheckpoint), Seconds(0.5 + 1));
  EXPECT_EQ(totals.time, Seconds(30 - 4 + 1.5 + 1));
}

TEST_F(RunRecoveryTest, TheWayBackFromAnotherPlanIsAMoveToo) {
  RunSpec spec = Spec(Policy::kReplan, 3);
  spec.replan = [](const ClusterState&, int) {
    return std::optional(Replanned{{Seconds(12), 16}, Seconds(1)});
  };
  spec.events = {At(5, DeviceNumber(1), What::kSlow, 0.5), Recovers(15, DeviceNumber(1))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+1 until 10", "rebalancing 1+0 until 11", "computing 1+1 until 23",
                   "rebalancing 2+0 until 24", "computing 2+1 until 34"}));
}

TEST_F(RunRecoveryTest, ADeviceForWhichThereIsNoPlanDoesNotJoin) {
  RunSpec spec = Spec(Policy::kReplan, 2);
  spec.replan = [](const ClusterState& state, int) {
    std::optional<Replanned> plan;
    if (state.down.size() == 8) plan = {{Seconds(20), 8}, Seconds(0)};
    return plan;
  };
  spec.step = [](const ClusterState& state, int network) {
    return state.down.empty() ? TenSecondStep(state, network) : std::nullopt;
  };
  for (int device = 8; device < 16; ++device) spec.events.push_back(Fails(5, DeviceNumber(device)));
  spec.events.push_back(Recovers(20, DeviceNumber(8)));
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"redone 0+0 until 5", "detection 0+0 until 7", "restart 0+0 until 10",
                   "reload 0+0 until 14", "computing 0+2 until 54"}));
}

TEST_F(RunRecoveryTest, ACheckpointThatAFailureInterruptedIsWrittenSoon) {
  RunSpec spec = Spec(Policy::kShrink, 9);
  spec.recovery.survivors_hold_state = true;
  spec.checkpoint = {Seconds(30), Seconds(8), /*is_asynchronous=*/true, /*slowdown=*/0};
  spec.events = {Fails(35, NodeNumber(1)), Recovers(35, NodeNumber(1))};
  const History history = Simulate(spec);
  // Writes begin at 30 s, when it fails, at 44 s and at 74 s; the last one ends the run.
  EXPECT_EQ(history.totals.checkpoints, 3);
}

TEST_F(RunRecoveryTest, AReplicaIsLiveIfAllItsDevicesAre) {
  ClusterState state;
  EXPECT_EQ(LiveReplicas(replicas_, state), (std::vector<int>{0, 1}));
  EXPECT_TRUE(IdleDevices(replicas_, std::vector{0, 1}, state).empty());
  state.down = {3};
  EXPECT_EQ(LiveReplicas(replicas_, state), (std::vector<int>{1}));
  EXPECT_EQ(IdleDevices(replicas_, std::vector{1}, state), (std::vector<int>{0, 1, 2, 4, 5, 6, 7}));
}

// Two of three replicas work, the third is idle. One alone takes twice as long.
class IdleReplicaTest : public testing::Test {
 protected:
  IdleReplicaTest() {
    spec_ = SmallRun(cluster_, 3);
    spec_.checkpoint = {};
    spec_.recovery.policy = Policy::kShrink;
    spec_.recovery.survivors_hold_state = true;
    spec_.step = [this](const ClusterState& state, int) {
      std::vector<int> working = LiveReplicas(replicas_, state);
      std::optional<RunningStep> step;
      if (working.empty()) return step;
      working.resize(std::min<size_t>(working.size(), 2));
      const int count = static_cast<int>(working.size());
      step = {Seconds(20.0 / count), 8 * count, IdleDevices(replicas_, working, state)};
      return step;
    };
  }
  History Simulate() { return SimulateRun(spec_, Random(1)); }

  const Cluster cluster_ = SwitchedNodes(3);
  const std::vector<std::vector<int>> replicas_ = {Range(0, 8), Range(8, 8), Range(16, 8)};
  RunSpec spec_;
};

TEST_F(IdleReplicaTest, AFailureOfAnIdleReplicaChangesNothing) {
  spec_.events = {Fails(15, NodeNumber(2)), Recovers(18, NodeNumber(2))};
  const History history = Simulate();
  EXPECT_EQ(history.totals.time, Seconds(30));
  EXPECT_EQ(history.totals.failures, 0);
}

// The step with the idle replica is the same, but that replica has to load the state first.
TEST_F(IdleReplicaTest, AFailureOfAWorkingReplicaInterruptsTheRun) {
  spec_.events = {Fails(15, NodeNumber(0))};
  EXPECT_EQ(PhaseLines(Simulate()),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 15", "detection 1+0 until 17",
                   "restart 1+0 until 20", "reload 1+0 until 24", "computing 1+2 until 44"}));
}

}  // namespace
}  // namespace stagecraft
