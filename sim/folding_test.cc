// What stands for others takes as long as they do, however unlike pairs of devices are.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "costmodel/random.h"
#include "sim/lowering.h"
#include "sim/lowering_testing.h"
#include "sim/plan_orders.h"
#include "sim/random_nodes.h"
#include "sim/random_plans.h"

namespace stagecraft {
namespace {

struct Counts {
  int drawn = 0, folded = 0, unfolded = 0;
};

void ExpectSameTimes(const Plan& drawn, const Workload& workload, const Cluster& cluster,
                     const std::string& text, Counts& counts) {
  const PlainModel model;
  const Plan plan = WithOrders(drawn, workload, cluster, model);
  SimExecutor executor(cluster, model);
  const Schedule folded = Lower(plan, workload, cluster);
  const Schedule unfolded = Lower(plan, workload, cluster, {.unfold = true});
  const auto run = [&](const Schedule& schedule) -> std::optional<Duration> {
    try {
      return executor.Execute(schedule).makespan();
    } catch (const DeadlockError&) {
      return std::nullopt;
    }
  };
  const std::optional<Duration> got = run(folded);
  EXPECT_EQ(got, run(unfolded)) << text;
  if (!got) return;
  ++counts.drawn;
  if (folded.ranks().size() < unfolded.ranks().size()) {
    ++counts.folded;
  } else if (plan.stages[0].tensor_parallel > 1) {
    ++counts.unfolded;
  }
}

template <typename Draw>
Counts ExpectFoldingChangesNothing(Draw draw) {
  const Workload workload = MakeWorkload(10);
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

TEST(FoldingTest, FoldingChangesNoTimeOnUnlikeBoards) {
  const Counts counts = ExpectFoldingChangesNothing([](Random&) {
    return Cluster("mixed", {{MakeNode(MakeDevice("fast", 100e12), 6), 1},
                             {MakeNode(MakeDevice("slow", 50e12), 4), 2}});
  });
  EXPECT_GT(counts.folded, 20);
}

}  // namespace
}  // namespace stagecraft
