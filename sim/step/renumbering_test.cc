// How devices are numbered, and which rank of a group is listed first, changes no time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/gradient_sync.h"
#include "costmodel/op.h"
#include "costmodel/random.h"
#include "sim/cluster/test_nodes.h"
#include "sim/lowering/lowering.h"
#include "sim/schedule/schedule.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_nodes.h"
#include "sim/testing/random_plans.h"

namespace stagecraft {
namespace {

constexpr std::array kFidelities = {NetworkFidelity::kModel, NetworkFidelity::kFlow};

Timeline Execute(const Plan& plan, const Workload& workload, const Cluster& cluster,
                 NetworkFidelity fidelity) {
  const PlainModel model;
  SimExecutor executor(cluster, model, {.fidelity = fidelity});
  return executor.Execute(Lower(WithPassOrders(plan, workload, cluster, model), workload, cluster,
                                {.unfold = fidelity == NetworkFidelity::kFlow}));
}

// Makes two stages of two tensor-parallel devices each, in one node.
Plan TwoStages(const Workload& workload, const Cluster& cluster, const std::vector<int>& first,
               const std::vector<int>& second) {
  PlanDegrees degrees = Degrees(2, 2);
  degrees.devices = 4;
  Plan plan = MakePlan(degrees, workload, cluster);
  plan.stages[0].replicas = {first};
  plan.stages[1].replicas = {second};
  return plan;
}

// On the cube mesh there is no link between devices 3 and 4, nor between 0 and 7: such messages
// cross PCIe. From 0 to 4 there are two links, from 3 to 7 one. The pairs {0, 4} and {3, 5} have a
// link and none.
TEST(RenumberingTest, TheSlowestPairDecidesWhoeverIsListedFirst) {
  const Workload workload = MakeWorkload();
  const Cluster cluster("mesh", {{WithGpu(CubeMeshNode()), 1}});
  const auto time = [&](const std::vector<int>& first, const std::vector<int>& second) {
    return Execute(TwoStages(workload, cluster, first, second), workload, cluster,
                   NetworkFidelity::kModel)
        .makespan();
  };
  EXPECT_EQ(time({0, 3}, {4, 5}), time({3, 0}, {5, 4}));
  EXPECT_EQ(time({0, 3}, {4, 7}), time({3, 0}, {7, 4}));
  EXPECT_EQ(time({0, 3}, {7, 4}), time({3, 0}, {4, 7}));
  EXPECT_LT(time({0, 3}, {4, 7}), time({0, 3}, {7, 4}));
}

void ExpectSameTimes(const Renumbered& clusters, const Workload& workload, const Plan& plan,
                     const std::string& text) {
  const Plan other = Renumber(plan, clusters.number);
  for (const NetworkFidelity fidelity : kFidelities) {
    EXPECT_EQ(Execute(other, workload, clusters.second, fidelity).Fingerprint(),
              Execute(plan, workload, clusters.first, fidelity).Fingerprint())
        << text << ", " << Name(fidelity);
  }
}

template <typename Draw>
void ExpectNumbersDoNotMatter(Draw draw, const Workload& workload = MakeWorkload(10),
                              int seeds = 400) {
  int drawn = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const Renumbered clusters = draw(random);
    const std::optional<Plan> plan = DrawPlan(random, workload, clusters.first);
    if (!plan) continue;
    ++drawn;
    ExpectSameTimes(clusters, workload, *plan, "seed " + std::to_string(seed));
  }
  EXPECT_GT(drawn, seeds / 4);
}

TEST(RenumberingTest, NumbersOfDevicesOnACubeMeshDoNotMatter) {
  ExpectNumbersDoNotMatter(RenumberedCubeMesh);
}

TEST(RenumberingTest, NumbersOfDevicesBelowPcieSwitchesDoNotMatter) {
  ExpectNumbersDoNotMatter(RenumberedTree);
}

TEST(RenumberingTest, NumbersOfDevicesWithLinksOfTheirOwnDoNotMatter) {
  ExpectNumbersDoNotMatter(RenumberedLinks);
}

TEST(RenumberingTest, NumbersOfDevicesThatShareExpertsDoNotMatter) {
  const Workload workload = MakeMixtureOfExperts(10);
  ExpectNumbersDoNotMatter(RenumberedCubeMesh, workload, 60);
  ExpectNumbersDoNotMatter(RenumberedTree, workload, 60);
}

// Returns how replicas are connected with the devices that serve them.
GradientSync SyncOf(const Plan& plan, const Workload& workload, const Cluster& cluster) {
  const Schedule schedule = Lower(plan, workload, cluster);
  for (const Op& op : schedule.distinct_ops()) {
    if (op.sync.servers > 0) return op.sync;
  }
  return {};
}

// Each device is a replica, except for two that serve the others. On a cube mesh some replicas have
// a link to a server and some have none.
TEST(RenumberingTest, TheOrderOfReplicasThatAreServedDoesNotMatter) {
  const Workload workload = MakeWorkload();
  const Cluster cluster("mesh", {{WithGpu(CubeMeshNode()), 1}});
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    PlanDegrees degrees = Degrees(1, 1);
    degrees.data = 2 << random.Integer(0, 1);
    degrees.zero = 0;
    degrees.gradient_sync.method = SyncMethod::kParameterServer;
    degrees.gradient_sync.servers = 2;
    const Plan plan = Renumber(MakePlan(degrees, workload, cluster), Permutation(random, 8));
    Plan other = plan;
    std::reverse(other.stages[0].replicas.begin(), other.stages[0].replicas.end());
    const GradientSync sync = SyncOf(plan, workload, cluster);
    EXPECT_EQ(sync.servers, 2);
    EXPECT_EQ(SyncOf(other, workload, cluster), sync) << "seed " << seed;
  }
}

// Permutes tensor and context indices, in the same way in all replicas and stages: every message
// and every group keeps its ends.
std::optional<Plan> WithRanksInAnotherOrder(Random& random, Plan plan) {
  const int tensor = plan.stages[0].tensor_parallel;
  const int context = plan.stages[0].context_parallel;
  const std::vector<int> new_tensor = Permutation(random, tensor);
  const std::vector<int> new_context = Permutation(random, context);
  for (Stage& stage : plan.stages) {
    if (stage.tensor_parallel != tensor || stage.context_parallel != context) return std::nullopt;
    for (std::vector<int>& replica : stage.replicas) {
      const std::vector<int> old = replica;
      for (int c = 0; c < context; ++c) {
        for (int t = 0; t < tensor; ++t) {
          replica[new_context[c] * tensor + new_tensor[t]] = old[c * tensor + t];
        }
      }
    }
  }
  return plan;
}

TEST(RenumberingTest, TheOrderOfRanksDoesNotMatter) {
  const Workload workload = MakeWorkload(10);
  int drawn = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    const Renumbered clusters = seed % 3 == 0   ? RenumberedCubeMesh(random)
                                : seed % 3 == 1 ? RenumberedTree(random)
                                                : RenumberedLinks(random);
    std::optional<Plan> plan = DrawPlan(random, workload, clusters.first);
    // Sharding groups and chains of context ranks depend on the order of devices.
    if (!plan || plan->zero_group > 0) continue;
    const std::optional<Plan> other = WithRanksInAnotherOrder(random, *plan);
    if (!other) continue;
    ++drawn;
    for (const NetworkFidelity fidelity : kFidelities) {
      if (fidelity == NetworkFidelity::kFlow && plan->stages[0].context_parallel > 1) continue;
      EXPECT_EQ(Execute(*other, workload, clusters.first, fidelity).makespan(),
                Execute(*plan, workload, clusters.first, fidelity).makespan())
          << "seed " << seed << ", " << Name(fidelity);
    }
  }
  EXPECT_GT(drawn, 80);
}

}  // namespace
}  // namespace stagecraft
