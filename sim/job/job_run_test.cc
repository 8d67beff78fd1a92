#include "sim/job/job_run.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/random.h"
#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

using Lines = std::vector<std::string>;
using What = ClusterEvent::What;

class JobRunTest : public testing::Test {
 protected:
  History Simulate(const RunSpec& spec) { return SimulateRun(spec, Random(1)); }
  // The time of a run without checkpoints.
  Duration Time(RunSpec spec) {
    spec.checkpoint = {};
    return Simulate(spec).totals.time;
  }

  const Cluster cluster_ = SwitchedNodes(2);
};

TEST_F(JobRunTest, ARunWithoutEventsComputesAndWritesCheckpoints) {
  const History history = Simulate(SmallRun(cluster_, 10));
  EXPECT_EQ(PhaseLines(history),
            (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 35", "computing 3+3 until 65",
                   "checkpoint 6+0 until 70", "computing 6+3 until 100", "checkpoint 9+0 until 105",
                   "computing 9+1 until 115", "checkpoint 10+0 until 120"}));
  EXPECT_EQ(history.totals.time, Seconds(120));
  EXPECT_EQ(history.totals.useful, Seconds(100));
  EXPECT_EQ(history.totals.checkpoints, 4);
  EXPECT_EQ(history.totals.failures, 0);
  EXPECT_DOUBLE_EQ(history.totals.Goodput(), 100.0 / 120);
  EXPECT_DOUBLE_EQ(history.totals.GpuHours(history.totals.Lost(PhaseKind::kCheckpoint)),
                   20.0 / 3600 * 16);
}

TEST_F(JobRunTest, AFailureLosesTheStepsSinceTheLastCheckpoint) {
  RunSpec spec = SmallRun(cluster_, 6);
  spec.events = {Fails(47, DeviceNumber(1)), Recovers(60, DeviceNumber(1))};
  const History history = Simulate(spec);
  EXPECT_EQ(PhaseLines(history),
            (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 35", "computing 3+1 until 45",
                   "redone 4+0 until 47", "detection 4+0 until 49", "waiting 3+0 until 60",
                   "restart 3+0 until 63", "reload 3+0 until 67", "redone 3+1 until 77",
                   "computing 4+2 until 97", "checkpoint 6+0 until 102"}));
  const RunTotals& totals = history.totals;
  EXPECT_EQ(totals.useful, Seconds(60));
  EXPECT_EQ(totals.Lost(PhaseKind::kRedone), Seconds(12));
  EXPECT_EQ(totals.Lost(PhaseKind::kWaiting), Seconds(11));
  EXPECT_EQ(totals.Lost(PhaseKind::kComputing), Duration());
  EXPECT_EQ(totals.steps_redone, 1);
  EXPECT_EQ(totals.failures, 1);
  EXPECT_EQ(history.phases[3].reason, "lost when node0/gpu1 failed");
  EXPECT_EQ(history.phases[4].working_devices, 15);
  EXPECT_EQ(history.phases[6].reason, "after: node0/gpu1 failed");
}

TEST_F(JobRunTest, ACheckpointThatAFailureInterruptsDoesNotCount) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {Fails(32, DeviceNumber(1)), Recovers(32, DeviceNumber(1))};
  const History history = Simulate(spec);
  EXPECT_EQ(
      PhaseLines(history),
      (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 32", "detection 3+0 until 34",
             "restart 0+0 until 37", "reload 0+0 until 41", "redone 0+3 until 71",
             "checkpoint 3+0 until 76", "computing 3+1 until 86", "checkpoint 4+0 until 91"}));
  EXPECT_EQ(history.totals.checkpoints, 2);
  EXPECT_EQ(history.totals.Lost(PhaseKind::kCheckpoint), Seconds(12));
}

TEST_F(JobRunTest, AFailureDuringARestartStartsTheRecoveryAgain) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {Fails(37, DeviceNumber(1)), Recovers(37, DeviceNumber(1)),
                 Fails(40, DeviceNumber(9)), Recovers(40, DeviceNumber(9))};
  const History history = Simulate(spec);
  EXPECT_EQ(PhaseLines(history),
            (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 35", "redone 3+0 until 37",
                   "detection 3+0 until 39", "restart 3+0 until 40", "detection 3+0 until 42",
                   "restart 3+0 until 45", "reload 3+0 until 49", "computing 3+1 until 59",
                   "checkpoint 4+0 until 64"}));
  EXPECT_EQ(history.totals.failures, 2);
}

TEST_F(JobRunTest, TwoFailuresInOneStepAreOneInterruption) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {Fails(37, DeviceNumber(1)), Fails(38, DeviceNumber(9)),
                 Recovers(41, DeviceNumber(1)), Recovers(50, DeviceNumber(9))};
  const History history = Simulate(spec);
  EXPECT_EQ(history.totals.failures, 1);
  EXPECT_EQ(history.totals.Lost(PhaseKind::kDetection), Seconds(2));
  EXPECT_EQ(history.totals.Lost(PhaseKind::kWaiting), Seconds(11));
  EXPECT_EQ(history.totals.time, Seconds(50 + 7 + 10 + 5));
}

TEST_F(JobRunTest, FailuresAtTheSameMomentAreOneInterruption) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {Fails(37, DeviceNumber(1)), Fails(37, DeviceNumber(2)),
                 Recovers(37, DeviceNumber(1)), Recovers(37, DeviceNumber(2))};
  EXPECT_EQ(Simulate(spec).totals.failures, 1);
}

TEST_F(JobRunTest, DevicesOutsideThePlanDoNotInterruptIt) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.devices = {0, 1, 2, 3, 4, 5, 6, 7};
  spec.events = {Fails(37, NodeNumber(1))};
  const History history = Simulate(spec);
  EXPECT_EQ(history.totals.failures, 0);
  EXPECT_EQ(history.totals.devices, 8);
}

TEST_F(JobRunTest, ASlowDeviceChangesThePaceOfTheStepInProgress) {
  RunSpec spec = SmallRun(cluster_, 2);
  spec.events = {At(5, DeviceNumber(3), What::kSlow, 0.5)};
  EXPECT_EQ(Time(spec), Seconds(5 + 10 + 20));
  spec.events.push_back(Recovers(25, DeviceNumber(3)));
  EXPECT_EQ(Time(spec), Seconds(5 + 10 + 10 + 5));
  const History history = Simulate(spec);
  EXPECT_EQ(history.totals.Lost(PhaseKind::kComputing), Seconds(10));
  EXPECT_EQ(history.phases[1].reason, "1 device slow");
}

TEST_F(JobRunTest, AStepWaitsForALinkThatReturnsInTime) {
  RunSpec spec = SmallRun(cluster_, 2);
  spec.events = {At(5, LinkNumber(0), What::kSlow, 0), Recovers(6.5, LinkNumber(0))};
  EXPECT_EQ(Time(spec), Seconds(21.5));
  spec.checkpoint = {};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+0 until 5", "waiting 0+0 until 6.5", "computing 0+2 until 21.5"}));
}

TEST_F(JobRunTest, AStepIsLostIfALinkIsDownForLongerThanTheTimeout) {
  RunSpec spec = SmallRun(cluster_, 2);
  spec.checkpoint = {};
  spec.events = {Fails(15, LinkNumber(0)), Recovers(30, LinkNumber(0))};
  const History history = Simulate(spec);
  EXPECT_EQ(PhaseLines(history),
            (Lines{"computing 0+1 until 10", "redone 1+0 until 15", "waiting 1+0 until 17",
                   "waiting 0+0 until 30", "restart 0+0 until 33", "reload 0+0 until 37",
                   "redone 0+1 until 47", "computing 1+1 until 57"}));
  EXPECT_EQ(history.phases[1].reason, "lost when node0/gpu0 -> node0/nvswitch failed");
  EXPECT_EQ(history.totals.failures, 1);
}

TEST_F(JobRunTest, ACheckpointIsWrittenJustBeforeADeviceLeaves) {
  RunSpec spec = SmallRun(cluster_, 5);
  spec.events = {Leaves(36, NodeNumber(1), 20), At(70, NodeNumber(1), What::kJoin)};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 35", "computing 3+1 until 45",
                   "checkpoint 4+0 until 50", "redone 4+0 until 56", "waiting 4+0 until 70",
                   "restart 4+0 until 73", "reload 4+0 until 77", "computing 4+1 until 87",
                   "checkpoint 5+0 until 92"}));
}

TEST_F(JobRunTest, NoCheckpointPrecedesADepartureThatThePlanDoesNotNotice) {
  RunSpec spec = SmallRun(cluster_, 5);
  spec.devices = {0, 1, 2, 3, 4, 5, 6, 7};
  spec.events = {Leaves(36, NodeNumber(1), 20)};
  EXPECT_EQ(Simulate(spec).totals.checkpoints, 2);
}

TEST_F(JobRunTest, ANodeThatReturnsWhenItLeavesIsBack) {
  RunSpec spec = SmallRun(cluster_, 2);
  spec.events = {Leaves(1, NodeNumber(1), 4), At(5, NodeNumber(1), What::kJoin)};
  EXPECT_EQ(Time(spec), Seconds(5 + 3 + 4 + 20));
}

TEST_F(JobRunTest, AnUnannouncedDepartureNeedsNoDetection) {
  RunSpec spec = SmallRun(cluster_, 2);
  spec.events = {At(5, NodeNumber(1), What::kLeave), At(5, NodeNumber(1), What::kJoin)};
  EXPECT_EQ(Time(spec), Seconds(5 + 3 + 4 + 20));
}

TEST_F(JobRunTest, ANodeThatJoinsLaterIsAbsentAtTheStart) {
  RunSpec spec = SmallRun(cluster_, 1);
  spec.checkpoint = {};
  spec.events = {At(50, NodeNumber(1), What::kJoin)};
  EXPECT_EQ(PhaseLines(Simulate(spec)), (Lines{"waiting 0+0 until 50", "computing 0+1 until 60"}));
}

TEST_F(JobRunTest, AnAsynchronousCheckpointSlowsStepsUntilItIsComplete) {
  RunSpec spec = SmallRun(cluster_, 6);
  spec.checkpoint = {Seconds(30), Seconds(10), /*is_asynchronous=*/true, /*slowdown=*/0.5};
  const History history = Simulate(spec);
  // Half a step is done beside the write, the other half afterwards.
  EXPECT_EQ(PhaseLines(history), (Lines{"computing 0+3 until 30", "computing 3+0 until 40",
                                        "computing 3+3 until 65", "checkpoint 6+0 until 75"}));
  EXPECT_EQ(history.totals.Lost(PhaseKind::kCheckpoint), Seconds(15));
  EXPECT_EQ(history.totals.Lost(PhaseKind::kComputing), Duration());
  EXPECT_EQ(history.totals.checkpoints, 2);
}

TEST_F(JobRunTest, AnAsynchronousCheckpointCountsOnlyWhenItIsComplete) {
  RunSpec spec = SmallRun(cluster_, 6);
  spec.checkpoint = {Seconds(30), Seconds(10), /*is_asynchronous=*/true, /*slowdown=*/0.5};
  spec.events = {Fails(38, DeviceNumber(0)), Recovers(38, DeviceNumber(0))};
  EXPECT_EQ(Simulate(spec).totals.steps_redone, 3);
  spec.events = {Fails(42, DeviceNumber(0)), Recovers(42, DeviceNumber(0))};
  const History history = Simulate(spec);
  EXPECT_EQ(history.totals.steps_redone, 0);
  // The lost half step took 12 s, of which the write is to blame for 5.
  EXPECT_EQ(history.totals.Lost(PhaseKind::kRedone), Seconds(7));
}

TEST_F(JobRunTest, AWriteThatIsNotCompleteDelaysTheNext) {
  RunSpec spec = SmallRun(cluster_, 10);
  spec.checkpoint = {Seconds(10), Seconds(25), /*is_asynchronous=*/true, /*slowdown=*/0};
  // Writes begin at 10, 40 and 70 s, and the last one at the end.
  EXPECT_EQ(Simulate(spec).totals.checkpoints, 4);
  EXPECT_EQ(Simulate(spec).totals.time, Seconds(125));
}

TEST_F(JobRunTest, EventsCanBeTiedToSteps) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {AtStep(2, DeviceNumber(0), What::kFail), Recovers(30, DeviceNumber(0))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+2 until 20", "detection 2+0 until 22", "waiting 0+0 until 30",
                   "restart 0+0 until 33", "reload 0+0 until 37", "redone 0+2 until 57",
                   "computing 2+1 until 67", "checkpoint 3+0 until 72", "computing 3+1 until 82",
                   "checkpoint 4+0 until 87"}));
}

// The run falls back behind the step, but what happens at it happens at the same moment.
TEST_F(JobRunTest, EventsAtOneStepAreOneInterruption) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {AtStep(2, DeviceNumber(0), What::kFail), AtStep(2, DeviceNumber(1), What::kFail),
                 AtStep(2, DeviceNumber(0), What::kRecover),
                 AtStep(2, DeviceNumber(1), What::kRecover)};
  const History history = Simulate(spec);
  EXPECT_EQ(history.totals.failures, 1);
  EXPECT_EQ(history.totals.time, Seconds(20 + 2 + 3 + 4 + 20 + 10 + 5 + 10 + 5));
}

TEST_F(JobRunTest, EventsThatTurnOutToBeInAnImpossibleOrderAreRefused) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {AtStep(2, NodeNumber(1), What::kFail), Recovers(12, NodeNumber(1))};
  EXPECT_EQ(ErrorOf([&] { Simulate(spec); }),
            "events[1], 12 s after the start of the run: node1 recovers, but it neither failed nor "
            "was slow before");
  spec.events = {At(25, NodeNumber(1), What::kLeave), AtStep(2, NodeNumber(1), What::kJoin)};
  EXPECT_EQ(ErrorOf([&] { Simulate(spec); }),
            "events[1], 20 s after the start of the run: node1 joins, but it did not leave before");
}

TEST_F(JobRunTest, TheEndOfSlownessEndsNoFailureThatWasDrawn) {
  RunSpec spec = SmallRun(cluster_, 1000);
  spec.events = {At(0, NodeNumber(0), What::kSlow, 0.5), At(0, NodeNumber(1), What::kSlow, 0.5)};
  spec.rates.node_mtbf = Seconds(2000);
  spec.rates.repair = Seconds(500);
  const auto first_wait = [](const History& history) {
    for (const RunPhase& phase : history.phases) {
      if (phase.kind == PhaseKind::kWaiting) return phase;
    }
    return RunPhase();
  };
  const RunPhase before = first_wait(Simulate(spec));
  ASSERT_GT(before.length, Seconds(400));
  const double soon = before.start.seconds() + 1;
  spec.events.push_back(Recovers(soon, NodeNumber(0)));
  spec.events.push_back(Recovers(soon, NodeNumber(1)));
  EXPECT_EQ(first_wait(Simulate(spec)).length, before.length);
}

TEST_F(JobRunTest, StepsChangeWithTheNetwork) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.network_changes = {{1}, {3}};
  spec.step = [](const ClusterState&, int network) {
    return std::optional(RunningStep{Seconds(10.0 * (network + 1)), 16});
  };
  EXPECT_EQ(Time(spec), Seconds(10 + 20 + 20 + 30));
  spec.events = {Fails(75, DeviceNumber(0)), Recovers(75, DeviceNumber(0))};
  EXPECT_EQ(Time(spec), Seconds(75 + 2 + 3 + 4 + 80));
}

// A change takes 7 s once two steps are done, before a checkpoint is written there. A failure in
// the middle of it loses these steps, and so the run comes past it again.
TEST_F(JobRunTest, AChangeOfTheNetworkCostsItsTime) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.checkpoint = {};
  spec.network_changes = {{2, Seconds(7), "layers move"}};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (std::vector<std::string>{"computing 0+2 until 20", "rebalancing 2+0 until 27",
                                      "computing 2+2 until 47"}));
  EXPECT_EQ(Simulate(spec).phases[1].reason, "layers move");
  EXPECT_EQ(Simulate(spec).totals.Lost(PhaseKind::kRebalancing), Seconds(7));
  spec.events = {Fails(23, DeviceNumber(0)), Recovers(23, DeviceNumber(0))};
  EXPECT_EQ(Time(spec), Seconds(23 + 2 + 3 + 4 + 47));
  spec.checkpoint = {.interval = Seconds(20), .write = Seconds(1)};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (std::vector<std::string>{"computing 0+2 until 20", "rebalancing 2+0 until 23",
                                      "detection 2+0 until 25", "restart 0+0 until 28",
                                      "reload 0+0 until 32", "redone 0+2 until 52",
                                      "rebalancing 2+0 until 59", "checkpoint 2+0 until 60",
                                      "computing 2+2 until 80", "checkpoint 4+0 until 81"}));
}

TEST_F(JobRunTest, AStateIsAskedForOnce) {
  RunSpec spec = SmallRun(cluster_, 40);
  int calls = 0;
  spec.step = [&calls](const ClusterState& state, int network) {
    ++calls;
    return TenSecondStep(state, network);
  };
  for (int i = 0; i < 10; ++i) {
    spec.events.push_back(At(20 * i + 1, DeviceNumber(3), What::kSlow, 0.5));
    spec.events.push_back(Recovers(20 * i + 5, DeviceNumber(3)));
  }
  Simulate(spec);
  EXPECT_EQ(calls, 2);
}

TEST_F(JobRunTest, ARunThatCannotGoOnSaysWhy) {
  RunSpec spec = SmallRun(cluster_, 10);
  spec.events = {Fails(47, DeviceNumber(1))};
  try {
    Simulate(spec);
    FAIL();
  } catch (const RunCannotContinue& error) {
    EXPECT_STREQ(error.what(),
                 "the run stops at 49.0 s with 3 of 10 steps: node0/gpu1 failed; 15 of the 16 "
                 "devices of the plan are left, and nothing that is still to happen lets the plan "
                 "run again");
  }
}

TEST_F(JobRunTest, APlanThatNeverRunsSaysSo) {
  RunSpec spec = SmallRun(cluster_, 10);
  spec.step = [](const ClusterState&, int) { return std::optional<RunningStep>(); };
  try {
    Simulate(spec);
    FAIL();
  } catch (const RunCannotContinue& error) {
    EXPECT_STREQ(error.what(),
                 "the run stops at 0.0 s with 0 of 10 steps: the plan does not run even on the "
                 "whole cluster");
  }
}

TEST_F(JobRunTest, ManyRunsThrowWhatTheFirstThrows) {
  RunSpec spec = SmallRun(cluster_, 10);
  spec.events = {Fails(47, DeviceNumber(1))};
  EXPECT_THROW(SimulateRuns(spec, 20, Random(1)), RunCannotContinue);
}

TEST_F(JobRunTest, EveryProblemOfASpecificationIsNamed) {
  RunSpec spec = SmallRun(cluster_, 0);
  spec.network_changes = {{3}, {3}};
  spec.devices = {1, 16};
  spec.checkpoint.write = Seconds(-1);
  spec.checkpoint.slowdown = 1;
  spec.recovery.policy = Recovery::Policy::kReplan;
  spec.recovery.spare_nodes = -1;
  spec.nodes_per_rack = -1;
  EXPECT_EQ(FindErrors(spec),
            (Lines{"steps: got 0, want above 0", "nodes_per_rack: got -1, want 0 or more",
                   "network_changes: got 3, want ascending steps above 0",
                   "devices: got 16, want ascending devices of the cluster",
                   "checkpoint.write: got -1 s, want from 0 s to 100 years",
                   "checkpoint.slowdown: got 1, want from 0 to below 1",
                   "recovery.spare_nodes: got -1, want 0 or more",
                   "replan: got none, want a function that finds plans"}));
  EXPECT_EQ(FindErrors(SmallRun(cluster_, 1)), Lines());
}

}  // namespace
}  // namespace stagecraft
