// Runs that stop before their last step: what they say, and the history that is kept.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/error_of.h"
#include "costmodel/random.h"
#include "sim/job/job_run.h"
#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

using Lines = std::vector<std::string>;
using Policy = Recovery::Policy;
using What = ClusterEvent::What;

class RunLimitsTest : public testing::Test {
 protected:
  // The sentence of a run that cannot go on; its history is kept.
  std::string Stop(const RunSpec& spec) {
    history_ = {};
    try {
      SimulateRun(spec, Random(1), &history_);
      return "";
    } catch (const RunCannotContinue& error) {
      EXPECT_EQ(history_.stopped, error.what());
      ExpectSums();
      return error.what();
    }
  }
  void ExpectSums() {
    Duration at;
    int64_t computed = 0;
    for (const RunPhase& phase : history_.phases) {
      EXPECT_EQ(phase.start, at);
      at += phase.length;
      if (phase.kind == PhaseKind::kComputing) computed += phase.steps;
    }
    const RunTotals& totals = history_.totals;
    EXPECT_EQ(at, totals.time);
    EXPECT_EQ(computed, totals.steps);
    Duration sum = totals.useful;
    for (const Duration lost : totals.lost) {
      EXPECT_GE(lost, Duration());
      sum += lost;
    }
    EXPECT_EQ(sum, totals.time);
  }

  const Cluster cluster_ = SwitchedNodes(2);
  History history_;
};

TEST_F(RunLimitsTest, ARunOfMoreThanAHundredYearsIsRefused) {
  RunSpec spec = SmallRun(cluster_, INT64_MAX);
  spec.checkpoint = {};
  EXPECT_EQ(Stop(spec),
            "the run stops at 3155760000.0 s with 315576000 of 9223372036854775807 steps: it would "
            "take longer than 100 years");
  EXPECT_EQ(history_.totals.useful, kLongestTime);
  spec.steps = 315576000;
  EXPECT_EQ(Stop(spec), "");
  EXPECT_EQ(history_.stopped, "");
}

TEST_F(RunLimitsTest, AStepOfMoreThanAHundredYearsIsRefused) {
  for (const Duration time : {kLongestTime + 1_ns, Duration::Max()}) {
    RunSpec spec = SmallRun(cluster_, INT64_MAX);
    spec.step = [time](const ClusterState&, int) { return std::optional(RunningStep{time, 16}); };
    EXPECT_EQ(Stop(spec),
              "the run stops at 3155760000.0 s with 0 of 9223372036854775807 steps: it would take "
              "longer than 100 years");
    EXPECT_EQ(history_.totals.Lost(PhaseKind::kRedone), kLongestTime);
    EXPECT_EQ(history_.phases[0].reason, "lost when the run stopped");
  }
}

TEST_F(RunLimitsTest, ARepairThatTakesTooLongIsNotAwaited) {
  RunSpec spec = SmallRun(cluster_, 1000000);
  spec.rates.node_mtbf = Seconds(1e6);
  spec.rates.repair = kLongestTime;
  const std::string stop = Stop(spec);
  EXPECT_EQ(stop.find("the run stops at 3155760000.0 s with "), 0u) << stop;
  EXPECT_NE(stop.find(" failed; 0 of the 16 devices of the plan are left, and it would take longer "
                      "than 100 years"),
            std::string::npos)
      << stop;
}

// There is a failure each day, and a recovery takes ten days, so that it succeeds with a
// probability of e^-10. All steps, of which none is saved, are done with a probability of e^-1000.
TEST_F(RunLimitsTest, ARunWithTooManyFailuresEndsAfterAHundredYears) {
  const Duration day = Seconds(86400);
  RunSpec spec = SmallRun(cluster_, 1000);
  spec.checkpoint = {};
  spec.rates.node_mtbf = 2 * day;
  spec.recovery.restart = 10 * day;
  spec.step = [day](const ClusterState&, int) { return std::optional(RunningStep{day, 16}); };
  const std::string stop = Stop(spec);
  EXPECT_NE(stop.find("it would take longer than 100 years"), std::string::npos) << stop;
  EXPECT_GT(history_.totals.failures, 30000);
}

TEST_F(RunLimitsTest, ARunThatDoesNotGetOnEnds) {
  RunSpec spec = SmallRun(cluster_, 1000);
  spec.rates.node_mtbf = Seconds(0.02);
  const std::string stop = Stop(spec);
  EXPECT_NE(stop.find("the last 1000000 events and decisions completed no step for the first time"),
            std::string::npos)
      << stop;
  spec.rates.node_mtbf = Duration::Nanoseconds(1);  // Nearly all failures are at one moment.
  EXPECT_EQ(Stop(spec).find("the run stops at 0.0 s with 0 of 1000 steps: "), 0u);
  EXPECT_THROW(SimulateRuns(spec, 100, Random(1)), RunCannotContinue);
}

TEST_F(RunLimitsTest, ARunWithTooManyCheckpointsEnds) {
  RunSpec spec = SmallRun(cluster_, INT64_MAX);
  spec.checkpoint = {.interval = 1_ns};
  EXPECT_NE(Stop(spec).find("it takes more than 10000000 events and decisions"), std::string::npos);
}

TEST_F(RunLimitsTest, AHistoryIsKeptIfTheLastReplicaFails) {
  RunSpec spec = SmallRun(cluster_, 10);
  spec.recovery.policy = Policy::kShrink;
  spec.step = [](const ClusterState& state, int network) {
    return state.down.size() > 8 ? std::nullopt : TenSecondStep(state, network);
  };
  spec.events = {Fails(37, NodeNumber(0)), Fails(60, NodeNumber(1))};
  EXPECT_EQ(Stop(spec),
            "the run stops at 62.0 s with 3 of 10 steps: node1 failed; 0 of the 16 devices of the "
            "plan are left, and nothing that is still to happen lets the plan run again");
  EXPECT_EQ(PhaseLines(history_),
            (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 35", "redone 3+0 until 37",
                   "detection 3+0 until 39", "restart 3+0 until 42", "reload 3+0 until 46",
                   "computing 3+1 until 56", "redone 4+0 until 60", "detection 4+0 until 62"}));
  EXPECT_EQ(history_.totals.steps, 4);
  EXPECT_EQ(history_.totals.failures, 2);
}

TEST_F(RunLimitsTest, AHistoryIsKeptIfTheStepFunctionThrows) {
  RunSpec spec = SmallRun(cluster_, 10);
  spec.step = [](const ClusterState& state, int network) {
    if (!state.slow.empty()) throw InputError("k.yaml: no row has half the rate");
    return TenSecondStep(state, network);
  };
  spec.events = {At(37, DeviceNumber(0), What::kSlow, 0.5)};
  EXPECT_EQ(ErrorOf([&] { SimulateRun(spec, Random(1), &history_); }),
            "k.yaml: no row has half the rate");
  EXPECT_EQ(history_.stopped, "k.yaml: no row has half the rate");
  EXPECT_EQ(PhaseLines(history_),
            (Lines{"computing 0+3 until 30", "checkpoint 3+0 until 35", "redone 3+0 until 37"}));
  ExpectSums();
  // A run that fails before it starts has an empty history.
  spec.events[0].at = Duration();
  EXPECT_THROW(SimulateRun(spec, Random(1), &history_), InputError);
  EXPECT_TRUE(history_.phases.empty());
  EXPECT_EQ(history_.totals.Goodput(), 0);
}

// Later histories fail as well, and are often the first to be simulated.
TEST_F(RunLimitsTest, TheFirstHistoryThatFailsDecidesForAnyNumberOfThreads) {
  RunSpec spec = SmallRun(cluster_, 1000);
  spec.recovery.policy = Policy::kShrink;
  spec.rates.device_kinds = {{"", Seconds(160000)}};
  spec.rates.repair = Seconds(100);
  spec.step = [](const ClusterState& state, int network) {
    if (!state.down.empty()) throw InputError("device " + std::to_string(state.down[0]));
    return TenSecondStep(state, network);
  };
  const auto error = [&spec](int threads) {
    const oneapi::tbb::global_control control(oneapi::tbb::global_control::max_allowed_parallelism,
                                              static_cast<size_t>(threads));
    return ErrorOf([&] { SimulateRuns(spec, 64, Random(1)); });
  };
  std::string first;
  for (uint64_t number = 0; number < 64 && first.empty(); ++number) {
    first = ErrorOf([&] { SimulateRun(spec, Random(1).Child("history", number)); });
  }
  EXPECT_NE(first, "");
  EXPECT_EQ(error(1), first);
  EXPECT_EQ(error(8), first);
}

}  // namespace
}  // namespace stagecraft
