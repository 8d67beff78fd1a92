// Representatives take as long as the ranks and replicas for which they stand, however different
// pairs of devices are.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "sim/cluster/slow_parts.h"
#include "sim/cluster/test_nodes.h"
#include "sim/lowering/lowering.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/testing/random_nodes.h"
#include "sim/testing/random_plans.h"

namespace stagecraft {
namespace {

struct Counts {
  int drawn = 0, folded = 0, unfolded = 0;
  std::map<int, int> by_experts;  // by the number of ranks that divide them
};

void ExpectSameTimes(const Plan& drawn, const Workload& workload, const Cluster& cluster,
                     const std::string& text, Counts& counts) {
  const PlainModel model;
  const Plan plan = WithPassOrders(drawn, workload, cluster, model);
  SimExecutor executor(cluster, model);
  const Schedule folded = Lower(plan, workload, cluster);
  const Schedule unfolded = Lower(plan, workload, cluster, {.unfold = true});
  EXPECT_EQ(executor.Execute(folded).makespan(), executor.Execute(unfolded).makespan()) << text;
  ++counts.drawn;
  ++counts.by_experts[plan.stages[0].expert_parallel];
  if (folded.ranks().size() < unfolded.ranks().size()) {
    ++counts.folded;
  } else if (plan.stages[0].tensor_parallel > 1) {
    ++counts.unfolded;
  }
}

template <typename Draw>
Counts ExpectFoldingChangesNothing(Draw draw, const Workload& workload = MakeWorkload(10)) {
  Counts counts;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const Cluster cluster = draw(random);
    const std::optional<Plan> plan = DrawPlan(random, workload, cluster);
    if (!plan) continue;
    ExpectSameTimes(*plan, workload, cluster, "seed " + std::to_string(seed), counts);
  }
  EXPECT_GT(counts.drawn, 300);
  return counts;
}

TEST(FoldingTest, FoldingChangesNoTimeOnACubeMesh) {
  const Counts counts =
      ExpectFoldingChangesNothing([](Random& random) { return RenumberedCubeMesh(random).first; });
  EXPECT_GT(counts.folded, 5);
  EXPECT_GT(counts.unfolded, 20);
}

TEST(FoldingTest, FoldingChangesNoTimeBelowPcieSwitches) {
  ExpectFoldingChangesNothing([](Random& random) { return RenumberedTree(random).first; });
}

TEST(FoldingTest, FoldingChangesNoTimeOverLinksOfTheirOwn) {
  ExpectFoldingChangesNothing([](Random& random) { return RenumberedLinks(random).first; });
}

TEST(FoldingTest, FoldingChangesNoTimeOnUnlikeGpus) {
  const Counts counts = ExpectFoldingChangesNothing([](Random&) {
    return Cluster("mixed", {{MakeNode(MakeDevice("fast", 100e12), 6), 1},
                             {MakeNode(MakeDevice("slow", 50e12), 4), 2}});
  });
  EXPECT_GT(counts.folded, 20);
}

// Makes up to `most` devices and links slow.
Cluster WithRandomSlowParts(Random& random, const Cluster& cluster, int most_devices,
                            int most_links) {
  const auto draw = [&](int most, int count) {
    std::map<int, double> rates;
    for (int64_t left = random.Integer(0, most); left > 0; --left) {
      const int part = static_cast<int>(random.Integer(0, count - 1));
      rates[part] = 0.1 * static_cast<double>(random.Integer(1, 9));
    }
    return std::vector<std::pair<int, double>>(rates.begin(), rates.end());
  };
  SlowParts parts;
  parts.devices = draw(most_devices, cluster.device_count());
  parts.links = draw(most_links, cluster.link_count());
  return cluster.WithSlowParts(std::move(parts));
}

TEST(FoldingTest, FoldingChangesNoTimeWithSlowDevices) {
  const Cluster cluster("switched", {{WithGpu(Switched()), 3}});
  const Counts counts = ExpectFoldingChangesNothing(
      [&](Random& random) { return WithRandomSlowParts(random, cluster, 3, 0); });
  EXPECT_GT(counts.folded, 100);
}

TEST(FoldingTest, FoldingChangesNoTimeWithSlowLinks) {
  const Cluster cluster("switched", {{WithGpu(Switched()), 3}});
  const Counts counts = ExpectFoldingChangesNothing(
      [&](Random& random) { return WithRandomSlowParts(random, cluster, 2, 6); });
  EXPECT_GT(counts.folded, 50);
}

TEST(FoldingTest, FoldingChangesNoTimeWithSlowPartsBelowPcieSwitches) {
  ExpectFoldingChangesNothing([](Random& random) {
    return WithRandomSlowParts(random, RenumberedTree(random).first, 2, 3);
  });
}

TEST(FoldingTest, FoldingChangesNoTimeOfExpertsWithSlowParts) {
  const Cluster cluster("switched", {{WithGpu(Switched()), 2}});
  ExpectFoldingChangesNothing(
      [&](Random& random) { return WithRandomSlowParts(random, cluster, 2, 4); },
      MakeMixtureOfExperts(10));
}

void ExpectEveryDivisionOfExperts(Counts counts) {
  EXPECT_GT(counts.folded, 10);
  for (const int ranks : {1, 2, 8}) EXPECT_GT(counts.by_experts[ranks], 50) << ranks;
}

TEST(FoldingTest, FoldingChangesNoTimeOfExpertsOnACubeMesh) {
  ExpectEveryDivisionOfExperts(ExpectFoldingChangesNothing(
      [](Random& random) { return RenumberedCubeMesh(random).first; }, MakeMixtureOfExperts(10)));
}

TEST(FoldingTest, FoldingChangesNoTimeOfExpertsBelowSwitches) {
  ExpectEveryDivisionOfExperts(ExpectFoldingChangesNothing(
      [](Random&) {
        return Cluster("switched", {{WithGpu(Switched()), 2}});
      },
      MakeMixtureOfExperts(10)));
}

TEST(FoldingTest, FoldingChangesNoTimeOfExpertsBelowPcieSwitches) {
  ExpectFoldingChangesNothing([](Random& random) { return RenumberedTree(random).first; },
                              MakeMixtureOfExperts(10));
}

}  // namespace
}  // namespace stagecraft
