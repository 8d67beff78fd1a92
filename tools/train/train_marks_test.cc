#include "tools/train/train_marks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/training/trained_states.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/job/cluster_event.h"
#include "sim/job/history.h"

namespace stagecraft {
namespace {

using Kind = RunMark::Kind;
using What = ClusterEvent::What;

// Adds phases one after the other.
struct Phases {
  // Steps of a second each.
  Phases& Steps(int64_t steps, const std::string& reason = "",
                PhaseKind kind = PhaseKind::kComputing) {
    return Add({kind,
                at_step,
                steps,
                {},
                Duration::Seconds(static_cast<double>(steps)),
                Duration::Seconds(1),
                8,
                reason});
  }
  Phases& Stop(PhaseKind kind, double seconds, const std::string& reason = "") {
    return Add({kind, at_step, 0, {}, Duration::Seconds(seconds), {}, 8, reason});
  }
  Phases& Add(RunPhase phase) {
    phase.start = history.totals.time;
    at_step += phase.steps;
    history.totals.time += phase.length;
    history.phases.push_back(phase);
    return *this;
  }

  int64_t at_step = 0;
  History history;
};

// Returns "10 failure: node0 failed" and so on.
std::vector<std::string> MarksIn(const History& history,
                                 const std::vector<ClusterEvent>& events = {},
                                 const std::vector<TrainedState>& states = {}) {
  const Cluster cluster = ParseCluster("h100-sxm:2x4");
  std::vector<std::string> words;
  for (const RunMark& mark : MarksOf(history, states, events, cluster).marks) {
    words.push_back(std::to_string(mark.at.ns() / 1'000'000'000) + " " + Name(mark.kind) + ": " +
                    mark.text);
  }
  return words;
}

using Words = std::vector<std::string>;

TEST(TrainMarksTest, AnInterruptionIsMarkedWhenItBeginsAndWhenStepsRunAgain) {
  Phases run;
  run.Steps(10)
      .Stop(PhaseKind::kDetection, 5, "node0 failed")
      .Stop(PhaseKind::kWaiting, 5, "node0 failed")
      .Stop(PhaseKind::kRestart, 5, "after: node0 failed")
      .Steps(10);
  EXPECT_EQ(MarksIn(run.history),
            (Words{"10 failure: node0 failed", "25 goes on: steps run again, from step 10"}));
}

TEST(TrainMarksTest, AFailureDuringARecoveryIsOneMore) {
  Phases run;
  run.Steps(10)
      .Stop(PhaseKind::kDetection, 5, "node0 failed")
      .Stop(PhaseKind::kRestart, 5, "after: node0 failed")
      .Stop(PhaseKind::kDetection, 5, "node1 failed")
      .Stop(PhaseKind::kRestart, 5, "after: node1 failed")
      .Stop(PhaseKind::kRestart, 5, "after: node0/gpu1 left")
      .Steps(1);
  EXPECT_EQ(MarksIn(run.history),
            (Words{"10 failure: node0 failed", "20 failure: node1 failed",
                   "30 failure: node0/gpu1 left", "35 goes on: steps run again, from step 10"}));
}

TEST(TrainMarksTest, ARestartForDevicesThatReturnIsNoFailure) {
  Phases run;
  run.Steps(1, "4 devices down").Stop(PhaseKind::kRestart, 5, "devices return").Steps(1);
  EXPECT_EQ(
      MarksIn(run.history),
      (Words{"0 slow or missing parts: steps from 0 on run with 4 devices down",
             "1 parts return, join or leave: restarts, since devices return",
             "6 goes on: steps run again, from step 1",
             "6 parts return, join or leave: steps from 1 on run with all parts at full speed"}));
}

TEST(TrainMarksTest, WhatStepsRunWithIsToldOfThoseThatAreNew) {
  Phases run;
  run.Steps(10).Stop(PhaseKind::kDetection, 5, "node0 failed");
  run.at_step = 4;
  run.Steps(6, "lost when node0 failed", PhaseKind::kRedone).Steps(5, "4 devices down");
  EXPECT_EQ(MarksIn(run.history),
            (Words{"10 failure: node0 failed", "15 goes on: steps run again, from step 4",
                   "21 slow or missing parts: steps from 10 on run with 4 devices down"}));
}

TEST(TrainMarksTest, AnEventOfTheFileIsToldOnce) {
  Phases run;
  run.Steps(10).Stop(PhaseKind::kDetection, 5, "node0 failed").Steps(10);
  const EventTarget node{EventTarget::Kind::kNode, 0}, device{EventTarget::Kind::kDevice, 5};
  const std::vector<ClusterEvent> events = {
      {.target = device, .what = What::kSlow, .rate = 0.5, .at = Duration::Seconds(3)},
      {.target = node, .what = What::kFail, .at_step = 10},
      {.target = node, .what = What::kRecover, .at = Duration::Seconds(12)},
      {.target = node, .what = What::kFail, .at = Duration::Seconds(1000)},
  };
  EXPECT_EQ(MarksIn(run.history, events),
            (Words{"3 slow or missing parts: node1/gpu1 slowed to 0.5 of its speed",
                   "10 failure: node0 failed", "12 parts return, join or leave: node0 recovered",
                   "15 goes on: steps run again, from step 10"}));
}

TEST(TrainMarksTest, ADepartureIsMarkedTwice) {
  Phases run;
  run.Steps(10);
  const std::vector<ClusterEvent> events = {{.target = {EventTarget::Kind::kNode, 1},
                                             .what = What::kLeave,
                                             .notice = Duration::Seconds(4),
                                             .at = Duration::Seconds(3)}};
  EXPECT_EQ(MarksIn(run.history, events),
            (Words{"3 parts return, join or leave: node1 is announced to leave in 4 s",
                   "7 parts return, join or leave: node1 left"}));
}

TEST(TrainMarksTest, AChangeOfTheNetworkIsMarkedWhereItsStepIsReachedFirst) {
  Phases run;
  run.Steps(10).Stop(PhaseKind::kRebalancing, 2, "faster").Steps(10);
  TrainedState given, pruned, later;
  pruned.step = 10;
  pruned.change = "half is pruned";
  later.step = 100;
  EXPECT_EQ(MarksIn(run.history, {}, {given, pruned, later}),
            (Words{"10 the network changes: step 10: half is pruned", "10 rebalancing: faster"}));
}

TEST(TrainMarksTest, CheckpointsAreMarkedIfTheyAreFew) {
  Phases run;
  run.Steps(1).Stop(PhaseKind::kCheckpoint, 1).Steps(2).Steps(3, "writes a checkpoint").Steps(4);
  EXPECT_EQ(MarksIn(run.history), (Words{"1 checkpoint: a checkpoint after step 1",
                                         "4 checkpoint: a checkpoint after step 3"}));
  for (int i = 0; i < 50; ++i) run.Stop(PhaseKind::kCheckpoint, 1).Steps(1);
  const RunMarks marks = MarksOf(run.history, {}, {}, ParseCluster("h100-sxm:2x4"));
  EXPECT_TRUE(marks.marks.empty());
  EXPECT_EQ(marks.checkpoints_not_marked, 52);
}

TEST(TrainMarksTest, StepsAreCompletedWhereTheyAreComputedFirst) {
  Phases run;
  run.Steps(10).Stop(PhaseKind::kWaiting, 5, "x");
  run.at_step = 5;
  run.Steps(5, "lost when x", PhaseKind::kRedone).Steps(10);
  EXPECT_EQ(WhenCompleted(run.history, 10), Duration::Seconds(10));
  EXPECT_EQ(WhenCompleted(run.history, 11), Duration::Seconds(21));
  EXPECT_EQ(WhenCompleted(run.history, 21), std::nullopt);
}

}  // namespace
}  // namespace stagecraft
