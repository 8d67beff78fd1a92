#include "sim/job/job_run.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

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
  ClusterEvent leave = At(36, NodeNumber(1), What::kLeave);
  leave.notice = Seconds(20);
  spec.events = {leave, At(70, NodeNumber(1), What::kJoin)};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 35", "computing 3+1 until 45",
                   "checkpoint 4+0 until 50", "redone 4+0 until 56", "waiting 4+0 until 70",
                   "restart 4+0 until 73", "reload 4+0 until 77", "computing 4+1 until 87",
                   "checkpoint 5+0 until 92"}));
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
  ClusterEvent fails = Fails(0, DeviceNumber(0));
  fails.at_step = 2;
  spec.events = {fails, Recovers(30, DeviceNumber(0))};
  EXPECT_EQ(PhaseLines(Simulate(spec)),
            (Lines{"computing 0+2 until 20", "detection 2+0 until 22", "waiting 0+0 until 30",
                   "restart 0+0 until 33", "reload 0+0 until 37", "redone 0+2 until 57",
                   "computing 2+1 until 67", "checkpoint 3+0 until 72", "computing 3+1 until 82",
                   "checkpoint 4+0 until 87"}));
}

TEST_F(JobRunTest, StepsChangeWithTheNetwork) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.network_changes = {1, 3};
  spec.step = [](const ClusterState&, int network) {
    return std::optional(RunningStep{Seconds(10.0 * (network + 1)), 16});
  };
  EXPECT_EQ(Time(spec), Seconds(10 + 20 + 20 + 30));
  spec.events = {Fails(75, DeviceNumber(0)), Recovers(75, DeviceNumber(0))};
  EXPECT_EQ(Time(spec), Seconds(75 + 2 + 3 + 4 + 80));
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
  EXPECT_THROW(Simulate(spec), RunCannotContinue);
}

TEST_F(JobRunTest, ManyRunsThrowWhatTheFirstThrows) {
  RunSpec spec = SmallRun(cluster_, 10);
  spec.events = {Fails(47, DeviceNumber(1))};
  EXPECT_THROW(SimulateRuns(spec, 20, Random(1)), RunCannotContinue);
}

TEST_F(JobRunTest, EveryProblemOfASpecificationIsNamed) {
  RunSpec spec = SmallRun(cluster_, 0);
  spec.network_changes = {3, 3};
  spec.devices = {1, 16};
  spec.checkpoint.write = Seconds(-1);
  spec.checkpoint.slowdown = 1;
  spec.recovery.policy = Recovery::Policy::kReplan;
  spec.recovery.spare_nodes = -1;
  EXPECT_EQ(FindErrors(spec), (Lines{"steps: got 0, want above 0",
                                     "network_changes: got 3, want ascending steps above 0",
                                     "devices: got 16, want ascending devices of the cluster",
                                     "checkpoint.write: got -1 s, want from 0 s to 100 years",
                                     "checkpoint.slowdown: got 1, want from 0 to below 1",
                                     "recovery.spare_nodes: got -1, want 0 or more",
                                     "replan: got none, want a function that finds plans"}));
  EXPECT_EQ(FindErrors(SmallRun(cluster_, 1)), Lines());
}

// Whatever happens: phases follow each other without gaps, every step is computed once for the
// first time, and time is either useful or lost by a cause.
TEST_F(JobRunTest, TimesAndStepsAddUp) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RunSpec spec = SmallRun(cluster_, 200);
    spec.rates.device_kinds = {{"", Seconds(2000 + 20000 * random.Uniform())}};
    spec.rates.node_mtbf = Seconds(3000);
    spec.rates.repair = Seconds(200 * random.Uniform());
    spec.rates.repair_time = EventRates::RepairTime::kExponential;
    spec.rates.slow = {{0.1, 0.7}};
    spec.nodes_per_rack = 1;
    spec.rates.rack_probability = 0.3;
    spec.checkpoint.is_asynchronous = seed % 2 == 1;
    spec.checkpoint.slowdown = 0.3;
    spec.recovery.policy = static_cast<Recovery::Policy>(seed % 3);
    spec.recovery.spare_nodes = 1;
    spec.recovery.swap = Seconds(5);
    spec.recovery.survivors_hold_state = seed % 4 == 0;
    if (spec.recovery.policy == Recovery::Policy::kShrink) {
      spec.step = [](const ClusterState& state, int network) {
        if (state.down.size() > 8) return std::optional<RunningStep>();
        auto step = TenSecondStep(state, network);
        if (!state.down.empty()) step = RunningStep{2 * step->time, 8};
        return step;
      };
    }
    const History history = Simulate(spec);
    Duration at;
    int64_t computed = 0;
    for (const Phase& phase : history.phases) {
      EXPECT_EQ(phase.start, at);
      EXPECT_GT(phase.length, Duration());
      at += phase.length;
      if (phase.kind == PhaseKind::kComputing) computed += phase.steps;
    }
    EXPECT_EQ(at, history.totals.time);
    EXPECT_EQ(computed, 200);
    EXPECT_EQ(history.totals.useful, Seconds(2000));
    Duration sum = history.totals.useful;
    for (const Duration& lost : history.totals.lost) {
      EXPECT_GE(lost, Duration());
      sum += lost;
    }
    EXPECT_EQ(sum, history.totals.time);
    EXPECT_GT(history.totals.failures, 0);
  }
}

}  // namespace
}  // namespace stagecraft
