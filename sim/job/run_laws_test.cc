// Laws that every history keeps, whatever happens in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "sim/job/event_order.h"
#include "sim/job/history.h"
#include "sim/job/job_run.h"
#include "sim/job/job_testing.h"
#include "sim/job/replicas.h"

namespace stagecraft {
namespace {

using Policy = Recovery::Policy;
using What = ClusterEvent::What;

constexpr int64_t kSteps = 200;
constexpr int kNodes = 3;

// Each node is a replica; at most two of them work.
class RunLawsTest : public testing::TestWithParam<Policy> {
 protected:
  std::optional<RunningStep> Step(const ClusterState& state, int network) const {
    std::vector<int> working = LiveReplicas(replicas_, state);
    std::optional<RunningStep> step;
    const auto base = TenSecondStep(state, network);
    if (working.empty() || !base) return step;
    working.resize(std::min<size_t>(working.size(), 2));
    const int count = static_cast<int>(working.size());
    step = {2 * base->time, 8 * count, IdleDevices(replicas_, working, state)};
    if (count == 2) step->time = base->time;
    if (network > 0) step->time += Seconds(2);
    return step;
  }

  // The node is slow, fails or leaves, and is well again, some times.
  void AddEvents(int node, Random& random, std::vector<ClusterEvent>& events) const {
    double at = 0;
    while (true) {
      at += 800 * random.Exponential();
      if (at > 3000) return;
      const double away = 1 + 100 * random.Uniform();
      const int64_t kind = random.Integer(0, 3);
      const EventTarget target = kind == 3 ? LinkNumber(node) : NodeNumber(node);
      if (kind == 2) {
        const double notice = 50 * random.Uniform();
        events.push_back(Leaves(at, target, notice));
        events.push_back(At(at + notice + away, target, What::kJoin));
        at += notice + away;
        continue;
      }
      events.push_back(kind == 0 ? Fails(at, target)
                                 : At(at, target, What::kSlow, kind == 3 ? 0 : 0.5));
      events.push_back(Recovers(at + away, target));
      at += away;
    }
  }

  RunSpec Spec(uint64_t seed) const {
    Random random(seed);
    RunSpec spec = SmallRun(cluster_, kSteps);
    spec.rates.device_kinds = {{"", Seconds(2000 + 40000 * random.Uniform())}};
    spec.rates.node_mtbf = Seconds(5000);
    spec.rates.repair = Seconds(200 * random.Uniform());
    spec.rates.repair_time = EventRates::RepairTime::kExponential;
    spec.rates.slow = {{0.1, 0.7}};
    spec.nodes_per_rack = 2;
    spec.rates.rack_probability = 0.3;
    spec.network_changes = {{50}, {51, Seconds(4)}, {120}};
    spec.checkpoint.is_asynchronous = random.Integer(0, 1) == 1;
    spec.checkpoint.write = Seconds(1 + 20 * random.Uniform());
    spec.checkpoint.slowdown = random.Integer(0, 1) == 1 ? 0.3 : 0;
    spec.recovery.policy = GetParam();
    spec.recovery.spare_nodes = 1;
    spec.recovery.swap = Seconds(5);
    spec.recovery.survivors_hold_state = random.Integer(0, 1) == 1;
    spec.step = [this](const ClusterState& state, int network) { return Step(state, network); };
    spec.replan = [this](const ClusterState& state, int network) {
      std::optional<Replanned> plan;
      if (state.slow_links.empty() && state.down.size() < 12) {
        if (const auto step = Step(state, network)) plan = {*step, Seconds(3)};
        if (plan) plan->step.time += Seconds(1);
      }
      return plan;
    };
    for (int node = 0; node < kNodes; ++node) AddEvents(node, random, spec.events);
    std::stable_sort(spec.events.begin(), spec.events.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return spec;
  }

  const Cluster cluster_ = SwitchedNodes(kNodes);
  const std::vector<std::vector<int>> replicas_ = {Range(0, 8), Range(8, 8), Range(16, 8)};
};

void ExpectSoundPhases(const History& history) {
  Duration at;
  int64_t kept = 0, high = 0;
  for (size_t i = 0; i < history.phases.size(); ++i) {
    const RunPhase& phase = history.phases[i];
    EXPECT_EQ(phase.start, at);
    EXPECT_GT(phase.length, Duration());
    at += phase.length;
    EXPECT_LE(phase.first_step, kept);  // Steps are lost, but none is skipped.
    kept = phase.first_step + phase.steps;
    if (phase.kind == PhaseKind::kComputing) {
      EXPECT_EQ(phase.first_step, high);
      high = kept;
    } else if (phase.kind == PhaseKind::kRedone) {
      EXPECT_LE(kept, high);
    } else {
      EXPECT_EQ(phase.steps, 0);
    }
    if (i == 0) continue;
    const RunPhase& last = history.phases[i - 1];
    EXPECT_TRUE(phase.kind != last.kind || phase.step_time != last.step_time ||
                phase.working_devices != last.working_devices || phase.reason != last.reason);
  }
  EXPECT_EQ(at, history.totals.time);
  EXPECT_EQ(high, kSteps);
}

// Phases follow each other without gaps, every step is computed once for the first time, and time
// is either useful or lost by a cause.
TEST_P(RunLawsTest, TimesAndStepsAddUp) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const RunSpec spec = Spec(seed);
    ASSERT_TRUE(FindErrors(spec.events, cluster_, Racks(cluster_, spec.nodes_per_rack)).empty());
    const History history = SimulateRun(spec, Random(seed).Child("history", 0));
    ExpectSoundPhases(history);
    const RunTotals& totals = history.totals;
    EXPECT_EQ(totals.useful, kSteps * Seconds(10) + (kSteps - 50) * Seconds(2));
    Duration sum = totals.useful;
    for (const Duration& lost : totals.lost) {
      EXPECT_GE(lost, Duration());
      sum += lost;
    }
    EXPECT_EQ(sum, totals.time);
    // The totals are the same if phases are not kept.
    const RunTotals alone = SimulateRuns(spec, 1, Random(seed))[0];
    EXPECT_EQ(alone.time, totals.time);
    EXPECT_EQ(alone.lost, totals.lost);
    EXPECT_EQ(alone.failures, totals.failures);
    EXPECT_EQ(alone.steps_redone, totals.steps_redone);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, RunLawsTest,
                         testing::Values(Policy::kRestart, Policy::kSpare, Policy::kShrink,
                                         Policy::kReplan));

}  // namespace
}  // namespace stagecraft
