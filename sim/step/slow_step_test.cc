// Steps on clusters with slow devices and links: closed forms to the nanosecond, and what a slow
// part must not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/slow_parts.h"
#include "sim/engine/engine.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/step/evaluation.h"
#include "sim/testing/asynchronous_testing.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

using Rates = std::vector<std::pair<int, double>>;

Duration Nanoseconds(int64_t ns) { return Duration::Nanoseconds(ns); }

// A pipeline of one operator for each stage, with `replicas` devices, whose numbers count stage by
// stage. Transfers, reductions and updates are free.
struct Chain {
  std::vector<TestStage> stages = {};
  int64_t micro_batches = 1;  // of each replica
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  int replicas = 1;

  Plan MakePlan() const {
    const size_t count = stages.size();
    Plan plan = PlanOf(std::vector<int>(count, replicas), std::vector<int>(count, 1), schedule);
    plan.global_batch = micro_batches * replicas;
    return plan;
  }
  SimulatedStep Simulate(const Rates& slow, const SimulationOptions& options = {}) const {
    const Plan plan = MakePlan();
    const Workload workload = ChainOf(stages);
    const Cluster cluster = MakeCluster(1, plan.device_count());
    EXPECT_EQ(FindErrors(plan, workload, cluster), std::vector<std::string>());
    return SimulateStep(plan, workload, cluster.WithSlowParts({.devices = slow}), ProfileModel(),
                        options);
  }
  Duration Time(const Rates& slow) const { return Simulate(slow).evaluation.step_time; }
};

std::vector<TestStage> EqualStages(int count, int64_t forward, int64_t backward) {
  return std::vector<TestStage>(
      count, {.forward = Nanoseconds(forward), .backward = Nanoseconds(backward)});
}

// stage 0: f f     b   b       f = b = 100 ns
// stage 1:   F  F B  B         at half its speed: 200 ns each
TEST(SlowStepTest, ADeviceAtHalfItsSpeedTakesTwiceAsLong) {
  const Chain chain{.stages = EqualStages(2, 100, 100), .micro_batches = 2};
  EXPECT_EQ(chain.Time({}), Nanoseconds(600));
  EXPECT_EQ(chain.Time({{1, 0.5}}), Nanoseconds(100 + 4 * 200 + 100));
}

// All stages take f and b for a micro-batch, but stage j takes s times as long. The step then takes
// j (f + b) + m s (f + b) + (p - 1 - j) max(0, f + b - s f), if s b >= f + b and m >= p; if j is
// the last stage, it does for any s >= 1.
TEST(SlowStepTest, OneSlowStageOf1F1BTakesWhatItsClosedFormSays) {
  int cases = 0;
  for (uint64_t seed = 0; cases < 400; ++seed) {
    Random random(seed);
    const auto draw = [&](int64_t least, int64_t most) { return random.Integer(least, most); };
    const auto stages = static_cast<int>(draw(2, 7));
    const auto slow = static_cast<int>(draw(0, stages - 1));
    // At a speed of numerator / denominator, times are whole nanoseconds.
    const int64_t numerator = draw(1, 9);
    const int64_t denominator = numerator + draw(1, 9);
    const int64_t f = numerator * draw(1, 2000), b = numerator * draw(1, 2000);
    const int64_t slow_f = f * denominator / numerator, slow_b = b * denominator / numerator;
    if (slow < stages - 1 && slow_b < f + b) continue;
    ++cases;
    const int64_t micro_batches = draw(stages, 3 * stages);
    const Chain chain{.stages = EqualStages(stages, f, b), .micro_batches = micro_batches};
    const double speed = static_cast<double>(numerator) / static_cast<double>(denominator);
    const int64_t after = (stages - 1 - slow) * std::max<int64_t>(0, f + b - slow_f);
    EXPECT_EQ(chain.Time({{slow, speed}}),
              Nanoseconds(slow * (f + b) + micro_batches * (slow_f + slow_b) + after))
        << "seed " << seed;
  }
}

// GPipe with any speeds: sum F + (m - 1) max F + sum B + (m - 1) max B.
TEST(SlowStepTest, AnySlowStagesOfGPipeTakeWhatTheirClosedFormSays) {
  constexpr double kSpeeds[] = {1, 0.5, 0.25, 0.2, 0.125};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Chain chain{.micro_batches = random.Integer(1, 9), .schedule = PipelineSchedule::kGpipe};
    Rates slow;
    int64_t sum = 0, most_f = 0, most_b = 0;
    const int64_t stages = random.Integer(2, 6);
    for (int stage = 0; stage < stages; ++stage) {
      const int64_t f = random.Integer(1, 5000);
      const int64_t b = random.Integer(1, 5000);
      chain.stages.push_back({.forward = Nanoseconds(f), .backward = Nanoseconds(b)});
      const double speed = kSpeeds[random.Integer(0, 4)];
      const int64_t times = std::lround(1 / speed);
      if (speed < 1) slow.emplace_back(stage, speed);
      sum += times * (f + b);
      most_f = std::max(most_f, times * f);
      most_b = std::max(most_b, times * b);
    }
    EXPECT_EQ(chain.Time(slow), Nanoseconds(sum + (chain.micro_batches - 1) * (most_f + most_b)))
        << "seed " << seed;
  }
}

TEST(SlowStepTest, DataParallelRanksWaitForTheSlowest) {
  const Chain one{.stages = EqualStages(2, 100, 200), .micro_batches = 4};
  const Chain eight{.stages = one.stages, .micro_batches = 4, .replicas = 8};
  EXPECT_EQ(eight.Time({}), one.Time({}));
  EXPECT_EQ(eight.Time({{5, 0.8}}), one.Time({{0, 0.8}}));
  EXPECT_EQ(eight.Time({{2, 0.25}, {5, 0.8}}), one.Time({{0, 0.25}}));
  // Pipelines that wait for each other at the end of the step only.
  const Chain pipelines{.stages = EqualStages(3, 100, 200), .micro_batches = 6, .replicas = 4};
  const Chain pipeline{.stages = pipelines.stages, .micro_batches = 6};
  EXPECT_EQ(pipelines.Time({{4 * 1 + 2, 0.5}}), pipeline.Time({{1, 0.5}}));
}

TEST(SlowStepTest, PipelinesThatNeverFlushGoAtThePaceOfTheSlowStage) {
  const Chain chain{.stages = EqualStages(3, 100, 200), .schedule = PipelineSchedule::kPipeDream};
  EXPECT_EQ(chain.Time({}), Nanoseconds(300));
  EXPECT_EQ(chain.Time({{1, 0.5}}), Nanoseconds(600));
}

// The engine takes as long if a lane works at another rate, since all ops of these passes slow down
// with the device.
TEST(SlowStepTest, ASlowDeviceIsALaneAtALowerRate) {
  const Chain chain{.stages = EqualStages(4, 1000, 2000), .micro_batches = 9};
  const Plan plan = chain.MakePlan();
  const Workload workload = ChainOf(chain.stages);
  const Cluster cluster = MakeCluster(1, 4);
  const ProfileModel model;
  const Schedule schedule = Lower(plan, workload, cluster);
  SimExecutor executor(cluster, model);
  executor.Execute(schedule);
  std::vector<Duration> durations;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    durations.push_back(executor.costs().TaskTimes(schedule, task).device);
  }
  std::vector<RateChange> changes;
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    const bool is_slow = info.rank >= 0 && schedule.ranks()[info.rank].device == 2;
    if (is_slow && info.kind == LaneKind::kCompute) changes.push_back({{}, Lane(lane), 0.8});
  }
  ASSERT_EQ(changes.size(), 1);
  const Timeline slowed = Engine().Run(schedule, durations, {.changes = changes});
  EXPECT_EQ(chain.Simulate({{2, 0.8}}).timeline.Fingerprint(), slowed.Fingerprint());
}

TEST(SlowStepTest, NoSlowPartsChangeNothing) {
  const Cluster cluster = MakeCluster(2, 4);
  const Workload workload = MakeWorkload();
  const Plan plan = MakePlan(Degrees(2, 2), workload, cluster);
  const SlowParts slow{.devices = {{1, 0.5}}, .links = {{0, 0.5}}};
  const auto fingerprint = [&](const Cluster& on) {
    return SimulateStep(plan, workload, on, PlainModel()).timeline.Fingerprint();
  };
  EXPECT_NE(fingerprint(cluster.WithSlowParts(slow)), fingerprint(cluster));
  EXPECT_EQ(fingerprint(cluster.WithSlowParts(slow).WithSlowParts({})), fingerprint(cluster));
}

// The order was fixed before the device became slow.
TEST(SlowStepTest, PassesKeepTheOrderThatTheyHaveAtFullSpeed) {
  const Cluster cluster = MakeCluster(1, 4);
  const Workload workload = MakeWorkload(8);
  PlanDegrees degrees = Degrees(1, 4);
  degrees.schedule = PipelineSchedule::kZeroBubbleAuto;
  const Plan plan = MakePlan(degrees, workload, cluster);
  const auto orders = [&](const Cluster& on) {
    return SimulateStep(plan, workload, on, PlainModel()).plan.orders;
  };
  EXPECT_EQ(orders(cluster.WithSlowParts({.devices = {{2, 0.25}}})), orders(cluster));
}

// A pass of a tensor-parallel group lasts until its slowest rank is done, however its ranks are
// simulated, and only the replica with the slow device is simulated beside the others.
TEST(SlowStepTest, AGroupGoesAtThePaceOfItsSlowestRank) {
  const Cluster cluster = MakeCluster(4, 8);
  const Workload workload = MakeWorkload();
  PlanDegrees degrees = Degrees(4, 2);
  degrees.zero = 0;
  const Plan plan = MakePlan(degrees, workload, cluster);
  const auto step = [&](const Rates& slow, bool unfold) {
    return SimulateStep(plan, workload, cluster.WithSlowParts({.devices = slow}), PlainModel(),
                        {.unfold = unfold});
  };
  const Duration usual = step({}, false).evaluation.step_time;
  const SimulatedStep folded = step({{6, 0.5}}, false);
  EXPECT_EQ(folded.evaluation.step_time, step({{6, 0.5}}, true).evaluation.step_time);
  EXPECT_GT(folded.evaluation.step_time, usual);
  EXPECT_EQ(folded.schedule.ranks().size(), 4);
  int device = -1;
  int64_t devices = 0;
  for (const RankInfo& rank : folded.schedule.ranks()) {
    if (cluster.WithSlowParts({.devices = {{6, 0.5}}}).speed(rank.device) < 1) device = rank.device;
    devices += rank.multiplicity;
  }
  EXPECT_EQ(device, 6);
  EXPECT_EQ(devices, 32);
  // A second slow device in the same group, or a faster one in another, changes nothing.
  EXPECT_EQ(step({{5, 0.5}, {6, 0.5}}, false).evaluation.step_time, folded.evaluation.step_time);
  EXPECT_EQ(step({{6, 0.5}, {14, 0.9}}, false).evaluation.step_time, folded.evaluation.step_time);
}

// Devices of stage 0 of one replica send over a slow interface.
TEST(SlowStepTest, ASlowLinkUnfoldsOnlyTheReplicasThatItTouches) {
  const Cluster cluster = MakeCluster(8, 4);
  const Workload workload = MakeWorkload();
  PlanDegrees degrees = Degrees(4, 2);
  degrees.zero = 0;
  const Plan plan = MakePlan(degrees, workload, cluster);
  int link = 0;
  while (cluster.LinkName(link) != "node1/nic2 -> fabric") ++link;
  const Cluster slowed = cluster.WithSlowParts({.links = {{link, 0.1}}});
  const auto step = [&](const Cluster& on, bool unfold) {
    return SimulateStep(plan, workload, on, PlainModel(), {.unfold = unfold});
  };
  const SimulatedStep folded = step(slowed, false);
  const SimulatedStep unfolded = step(slowed, true);
  EXPECT_EQ(folded.evaluation.step_time, unfolded.evaluation.step_time);
  EXPECT_GT(folded.evaluation.step_time, step(cluster, false).evaluation.step_time);
  EXPECT_EQ(unfolded.schedule.ranks().size(), 32);
  EXPECT_EQ(folded.schedule.ranks().size(), 16);  // two replicas of two stages of four ranks
}

TEST(SlowStepTest, ALinkThatIsDownStopsTheStepsThatNeedIt) {
  const Cluster cluster = MakeCluster(2, 2);
  const Workload workload = MakeWorkload();
  int link = 0;
  while (cluster.LinkName(link) != "node0/nic1 -> fabric") ++link;
  const Cluster broken = cluster.WithSlowParts({.links = {{link, 0}}});
  const auto run = [&](int tensor, int pipeline, int devices) {
    PlanDegrees degrees = Degrees(tensor, pipeline);
    degrees.devices = devices;
    SimulateStep(MakePlan(degrees, workload, broken), workload, broken, PlainModel());
  };
  EXPECT_THROW(run(2, 2, 4), LinkDownError);
  EXPECT_NO_THROW(run(1, 2, 2));  // within node0
}

}  // namespace
}  // namespace stagecraft
