// Clusters of different devices, and stages with different numbers of replicas.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "sim/lowering/lowering.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

// Stage 0 runs on a device that is half as fast: it limits the pipeline, and the same layers take
// it twice as long.
TEST(MixedClusterTest, TheSlowerTypeOfDeviceLimitsThePipeline) {
  const Workload workload = MakeWorkload();
  const Cluster mixed("mixed", {{MakeNode(MakeDevice("slow", 50e12), 1), 1},
                                {MakeNode(MakeDevice("fast", 100e12), 1), 1}});
  const Cluster fast = MakeCluster(2, 1);
  const PlanDegrees degrees = Degrees(1, 2);
  const Duration slow_time =
      Simulate(MakePlan(degrees, workload, mixed), workload, mixed, false).makespan();
  const Duration fast_time =
      Simulate(MakePlan(degrees, workload, fast), workload, fast, false).makespan();
  EXPECT_GT(slow_time, fast_time);
  EXPECT_LT(slow_time, 2 * fast_time);
}

// The forward computes 2e6 FLOPs a row x 500 rows = 1e9: 10 us at 100 TFLOP/s, 20 us at 50 TFLOP/s;
// the backward computes twice that. Each of the three products moves 2·(0.5e6 + 1e6 + 0.5e6) bytes:
// 4 us more at 1 TB/s. That of the weight gradient also reads the sum of earlier ones: 2 us more.
// The output of a layer is empty, so a message takes just its latency, 5 us between nodes.
Workload TwoProducts() {
  Workload workload;
  workload.name = "two products";
  workload.hidden = 1000;
  workload.heads = workload.kv_heads = 1;
  workload.max_sequence = 1;
  for (const LayerRole role : {LayerRole::kEmbedding, LayerRole::kHead}) {
    LayerKind kind;
    kind.name = role == LayerRole::kHead ? "second" : "first";
    kind.role = role;
    Operator product{.name = "product", .kind = OperatorKind::kLinear};
    product.in_features = product.out_features = 1000;
    kind.operators.Add(product);
    workload.kinds.push_back(kind);
    workload.layers.push_back(static_cast<int>(workload.layers.size()));
  }
  return workload;
}
constexpr Duration kFastForward = 14_us, kFastBackward = 30_us;
constexpr Duration kSlowForward = 24_us, kSlowBackward = 50_us;

// Makes nodes of one device each, with these peak rates.
Cluster MixedCluster(const std::vector<double>& peaks) {
  std::vector<Cluster::NodeGroup> groups;
  for (const double peak : peaks) {
    groups.push_back({MakeNode(MakeDevice(fmt::format("{:g}", peak), peak), 1), 1});
  }
  return Cluster("mixed", groups);
}

// Makes degrees with micro-batches of 500 rows.
PlanDegrees ProductDegrees(int pipeline, int64_t micro_batches) {
  PlanDegrees degrees = Degrees(1, pipeline);
  degrees.micro_batch = 500;
  degrees.global_batch = 500 * micro_batches;
  degrees.sequence = 1;
  return degrees;
}

// Each stage has one layer with one product. The slower stage limits the pipeline, wherever it is.
TEST(MixedClusterTest, AMixedPipelineTakesTheTimeAHandComputes) {
  const Workload workload = TwoProducts();
  const Duration slow_pass = kSlowForward + kSlowBackward;
  const auto simulate = [&](double first_peak, double second_peak) {
    const Cluster cluster = MixedCluster({first_peak, second_peak});
    const Plan plan = MakePlan(ProductDegrees(2, 8), workload, cluster);
    return Simulate(plan, workload, cluster, false, /*with_optimizer=*/false).makespan();
  };
  // Once begun, the second stage never waits: forward of the first, message, eight slow passes,
  // message, backward of the first.
  EXPECT_EQ(simulate(100e12, 50e12), 14_us + 5_us + 8 * slow_pass + 5_us + 30_us);
  // The first stage waits for its first backward, whose input arrives at 24 + 5 + 44 + 5 = 78 us,
  // when two forwards have taken 48, and for its last one, whose input arrives 5 + 44 + 5 = 54 us
  // after the forward, while one backward takes 50.
  EXPECT_EQ(simulate(50e12, 100e12), 8 * slow_pass + 30_us + 4_us);
}

// On three devices, two replicas of the first stage feed one of the second, which runs every
// micro-batch.
TEST(MixedClusterTest, UnequalReplicasShareTheMicroBatches) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 3);
  Plan plan = MakePlan(Degrees(1, 3), workload, cluster);
  plan.stages = {{{{0, 4}}, 1, 1, {{0}, {1}}}, {{{4, 4}}, 1, 1, {{2}}}};
  ASSERT_TRUE(FindErrors(plan, workload, cluster).empty());
  const Schedule schedule = Lower(plan, workload, cluster);
  std::vector<int> forwards(3, 0);
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    if (tag.phase == Phase::kForward) ++forwards[tag.rank];
  }
  EXPECT_EQ(forwards, (std::vector<int>{8, 8, 16}));
  EXPECT_GT(Simulate(plan, workload, cluster, false).makespan(), Duration());
}

// Six micro-batches: with equal shares the fast replica waits for the slow one; with four and two
// the fast one ends last.
TEST(MixedClusterTest, UnevenSharesLetTheFasterReplicaDoMore) {
  const Workload workload = TwoProducts();
  const Cluster cluster = MixedCluster({100e12, 50e12});
  const Duration fast = 2 * (kFastForward + kFastBackward);
  const Duration slow = 2 * (kSlowForward + kSlowBackward);
  PlanDegrees degrees = ProductDegrees(1, 6);
  const auto simulate = [&] {
    const Plan plan = MakePlan(degrees, workload, cluster);
    return Simulate(plan, workload, cluster, false, /*with_optimizer=*/false).makespan();
  };
  EXPECT_EQ(simulate(), 3 * slow);
  degrees.replica_micro_batches = {4, 2};
  EXPECT_EQ(simulate(), 4 * fast);
  degrees.replica_micro_batches = {5, 1};
  EXPECT_EQ(simulate(), 5 * fast);
}

// Two slow replicas of the first stage feed a fast one of the second, which never waits once it has
// begun.
TEST(MixedClusterTest, TwoSlowReplicasKeepAFastStageBusy) {
  const Workload workload = TwoProducts();
  const Cluster cluster = MixedCluster({50e12, 50e12, 100e12});
  Plan plan = MakePlan(ProductDegrees(2, 4), workload, MixedCluster({50e12, 100e12}));
  plan.zero = 0;
  plan.stages[0].replicas = {{0}, {1}};
  plan.stages[1].replicas = {{2}};
  ASSERT_TRUE(FindErrors(plan, workload, cluster).empty());
  EXPECT_EQ(Simulate(plan, workload, cluster, false, false).makespan(),
            kSlowForward + 5_us + 4 * (kFastForward + kFastBackward) + 5_us + kSlowBackward);
  // Three to one: micro-batches 0, 1 and 3 run on the first replica. The forward of 3 runs after
  // the backward of 0, from 128 to 152 us, and its output arrives at 157. The second stage ends 2
  // only at 161, so nothing is lost.
  plan.stages[0].replica_micro_batches = {3, 1};
  ASSERT_TRUE(FindErrors(plan, workload, cluster).empty());
  const Schedule schedule = Lower(plan, workload, cluster);
  std::vector<std::vector<int>> forwards(3);
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    if (tag.phase == Phase::kForward) forwards[tag.rank].push_back(tag.micro_batch);
  }
  EXPECT_EQ(forwards, (std::vector<std::vector<int>>{{0, 1, 3}, {2}, {0, 1, 2, 3}}));
  EXPECT_EQ(Simulate(plan, workload, cluster, false, false).makespan(), 260_us);
}

// Different numbers of replicas and unequal shares in every stage: all passes run, and none waits
// for ever.
TEST(MixedClusterTest, AnySharesOfAnyReplicasComeToAnEnd) {
  const Workload workload = MakeWorkload();
  for (int round = 0; round < 60; ++round) {
    Random random = Random(5).Child("shares", round);
    const int stages = static_cast<int>(random.Integer(1, 4));
    const int micro_batches = static_cast<int>(random.Integer(6, 20));
    Plan plan = MakePlan(Degrees(1, stages), workload, MakeCluster(1, stages));
    plan.zero = 0;
    plan.micro_batch = 1;
    plan.global_batch = micro_batches;
    int device = 0;
    for (Stage& stage : plan.stages) {
      const int replicas = static_cast<int>(random.Integer(1, 4));
      stage.replicas.clear();
      for (int r = 0; r < replicas; ++r) stage.replicas.push_back({device++});
      if (random.Integer(0, 2) == 0) continue;
      stage.replica_micro_batches.assign(replicas, 1);
      for (int left = micro_batches - replicas; left > 0; --left) {
        ++stage.replica_micro_batches[random.Integer(0, replicas - 1)];
      }
    }
    const Cluster cluster = MakeCluster(1, device);
    ASSERT_EQ(FindErrors(plan, workload, cluster), std::vector<std::string>()) << round;
    const Schedule schedule = Lower(plan, workload, cluster);
    std::map<std::pair<int, int>, int> forwards;  // by stage and micro-batch
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      const Tag& tag = schedule.tag(task);
      if (tag.phase == Phase::kForward && tag.segment == 0) {
        forwards[{tag.stage, tag.micro_batch}] += schedule.ranks()[tag.rank].multiplicity;
      }
    }
    // Separate pipelines count their own micro-batches, so their tags repeat.
    if (!HasSeparatePipelines(plan)) {
      EXPECT_EQ(static_cast<int>(forwards.size()), stages * micro_batches) << round;
    }
    int passes = 0;
    for (const auto& [pass, count] : forwards) passes += count;
    EXPECT_EQ(passes, stages * micro_batches) << round;
    EXPECT_GT(Simulate(plan, workload, cluster, false).makespan(), Duration()) << round;
  }
}

TEST(MixedClusterTest, RefusesSharesThatDoNotAddUp) {
  const Workload workload = TwoProducts();
  const Cluster cluster = MixedCluster({100e12, 50e12});
  Plan plan = MakePlan(ProductDegrees(1, 6), workload, cluster);
  for (const std::vector<int>& shares : {std::vector<int>{4, 1}, {6}, {6, 0}, {2, 2, 2}}) {
    plan.stages[0].replica_micro_batches = shares;
    const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(errors[0].starts_with("stages[0].replica_micro_batches: got ")) << errors[0];
  }
}

TEST(MixedClusterTest, AMixedReplicaPairIsNotFolded) {
  const Workload workload = MakeWorkload();
  const Cluster mixed("mixed", {{MakeNode(MakeDevice("slow", 50e12), 1), 1},
                                {MakeNode(MakeDevice("fast", 100e12), 1), 1}});
  const Plan plan = MakePlan(Degrees(1, 1), workload, mixed);
  const Schedule schedule = Lower(plan, workload, mixed);
  EXPECT_EQ(schedule.ranks().size(), 2u);
  EXPECT_EQ(Simulate(plan, workload, mixed, false).makespan(),
            Simulate(plan, workload, mixed, true).makespan());
}

}  // namespace
}  // namespace stagecraft
