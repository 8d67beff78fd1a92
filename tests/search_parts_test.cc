// Tests that the answer for a cluster is no worse than that for any part of it, since devices may
// stay idle, and replicas may take unequal shares of the batch.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "proto/plan.pb.h"
#include "search/checker.h"
#include "search/exhaustive.h"
#include "search/plan_key.h"
#include "search/plan_space.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan_proto.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SearchProblem AskOn(const Cluster& cluster, const SmallProblem& small, const CostModel& model) {
  SearchProblem problem{small.workload, cluster, model, small.given, {}};
  problem.choices.device_counts = DeviceCounts::kAny;
  problem.choices.micro_batches = {1, 2};
  problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
  problem.choices.zeros = {0, 1, 2};
  return problem;
}

// The best score, proven and checked; infinity if no plan fits.
double BestOf(const SearchProblem& problem) {
  const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
  const SearchResult result = SearchExhaustively(problem, *space, {});
  if (result.plans.empty()) {
    EXPECT_NE(result.obstacle, "");
    return kInfinity;
  }
  EXPECT_TRUE(result.is_optimal);
  EXPECT_EQ(FindErrors(problem, result.plans[0]), std::vector<std::string>());
  return result.plans[0].score;
}

// Nodes with the small problem's GPU type.
Cluster::NodeGroup NodesOf(const SmallProblem& small, int nodes, int devices) {
  Cluster::NodeGroup group{Switched(), nodes};
  group.type.device = small.cluster.device(0);
  group.type.devices = devices;
  group.type.nics = devices;
  return group;
}

TEST(SearchPartsTest, MoreNodesAreNoWorse) {
  int idle = 0, uneven = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), seed % 2 == 0 ? 0.3 : 2);
    small->given.global_batch = 24;
    const MemoModel memo(small->model);
    double before = kInfinity;
    for (int nodes = 1; nodes <= 7; ++nodes) {
      const Cluster cluster("nodes", {NodesOf(*small, nodes, 2)});
      const SearchProblem problem = AskOn(cluster, *small, memo);
      const double best = BestOf(problem);
      EXPECT_LE(best, before) << fmt::format("seed {}, {} nodes", seed, nodes);
      before = best;
      SearchProblem all = problem;
      all.choices.device_counts = DeviceCounts::kAll;
      const double with_all = BestOf(all);
      EXPECT_LE(best, with_all);
      idle += best < with_all ? 1 : 0;
      const SearchResult result = SearchExhaustively(problem, *MakePlanSpace(problem), {});
      if (result.plans.empty()) continue;
      uneven += result.plans[0].plan.stages[0].replica_micro_batches.empty() ? 0 : 1;
    }
  }
  // Some answers leave devices idle, and some have unequal shares.
  EXPECT_GT(idle, 0);
  EXPECT_GT(uneven, 0);
}

TEST(SearchPartsTest, MoreDevicesOfANodeAreNoWorse) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 2);
    small->given.global_batch = 12;
    const MemoModel memo(small->model);
    double before = kInfinity;
    for (int devices = 1; devices <= 8; ++devices) {
      const Cluster cluster("node", {NodesOf(*small, 1, devices)});
      const double best = BestOf(AskOn(cluster, *small, memo));
      EXPECT_LE(best, before) << fmt::format("seed {}, {} devices", seed, devices);
      before = best;
    }
  }
}

// The best plan may use fewer devices of each node, such as 3 of each of 3 nodes with 4 devices.
TEST(SearchPartsTest, FewerDevicesOfEachNodeAreNoBetter) {
  int compared = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), seed % 2 == 0 ? 0.5 : 2);
    small->given.global_batch = seed % 3 == 0 ? 9 : 12;
    const MemoModel memo(small->model);
    const Cluster whole("whole", {NodesOf(*small, 3, 4)});
    const double best = BestOf(AskOn(whole, *small, memo));
    for (int nodes = 1; nodes <= 3; ++nodes) {
      for (int devices = 1; devices <= 4; ++devices) {
        const Cluster part("part", {NodesOf(*small, nodes, devices)});
        EXPECT_LE(best, BestOf(AskOn(part, *small, memo)))
            << fmt::format("seed {}, {} nodes with {} devices", seed, nodes, devices);
        compared += best < kInfinity;
      }
    }
  }
  EXPECT_GT(compared, 30);
}

// With nodes of two types but one GPU type, the best plan may use some nodes of each type. Nodes
// have various sizes, and one or several interfaces.
TEST(SearchPartsTest, SomeNodesOfEachOfTwoTypesAreNoBetter) {
  constexpr int kBatches[] = {7, 8, 10, 14, 15, 20, 25};
  int compared = 0;
  for (const uint64_t seed : {2, 3, 14, 19, 38}) {
    const auto small = MakeSmallProblem(Random(seed), 0.5);
    small->given.global_batch = kBatches[seed % std::size(kBatches)];
    const MemoModel memo(small->model);
    Cluster::NodeGroup one = NodesOf(*small, 3, 2 + static_cast<int>(seed % 3));
    Cluster::NodeGroup other = NodesOf(*small, 3, 5 - static_cast<int>(seed % 4));
    if (seed % 2 == 1) other.type.nics = 1;
    const Cluster whole("whole", {one, other});
    const double best = BestOf(AskOn(whole, *small, memo));
    for (one.count = 1; one.count <= 3; ++one.count) {
      for (other.count = 1; other.count <= 3; ++other.count) {
        const Cluster part("part", {one, other});
        EXPECT_LE(best, BestOf(AskOn(part, *small, memo)))
            << fmt::format("seed {}, {} and {} nodes", seed, one.count, other.count);
        compared += best < kInfinity;
      }
    }
  }
  EXPECT_GT(compared, 20);
}

// With nodes of two types but one GPU type, the best plan may use all nodes of either type and some
// of the other.
TEST(SearchPartsTest, TheOrderOfNodesWithTheSameGpuMakesNoDifference) {
  int compared = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 0.5);
    const MemoModel memo(small->model);
    const Cluster::NodeGroup few = NodesOf(*small, 1 + static_cast<int>(seed % 3), 2);
    const Cluster::NodeGroup many = NodesOf(*small, 1, 4);
    const Cluster one("one", {few, many}), other("other", {many, few});
    SearchProblem problem = AskOn(one, *small, memo);
    problem.given.global_batch = 24;
    const double best = BestOf(problem);
    SearchProblem turned = AskOn(other, *small, memo);
    turned.given.global_batch = 24;
    EXPECT_EQ(BestOf(turned), best) << seed;
    compared += best < kInfinity;
    if (few.count == 1) continue;
    Cluster::NodeGroup fewer = few;
    --fewer.count;
    const Cluster part("part", {fewer, many});
    SearchProblem smaller = AskOn(part, *small, memo);
    smaller.given.global_batch = 24;
    EXPECT_LE(best, BestOf(smaller)) << seed;
  }
  EXPECT_GT(compared, 3);
}

TEST(SearchPartsTest, SeveralKindsOfGpuAreNoWorseThanEitherAlone) {
  int alone = 0, together = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto mixed = MakeMixedProblem(Random(seed), Random(seed + 1000), 0.5);
    const MemoModel memo(mixed->model);
    const double best = BestOf(AskOn(mixed->cluster, *mixed, memo));
    double best_part = kInfinity;
    for (const Cluster::NodeGroup& group : mixed->cluster.groups()) {
      const Cluster part("part", {group});
      best_part = std::min(best_part, BestOf(AskOn(part, *mixed, memo)));
    }
    EXPECT_LE(best, best_part) << seed;
    (best < best_part ? together : alone) += 1;
  }
  EXPECT_GT(alone, 0);
  EXPECT_GT(together, 0);
}

// A part has fewer nodes of some groups, hence pools of other sizes.
TEST(SearchPartsTest, NoPartOfSeveralKindsOfGpuIsBetter) {
  int parts = 0, idle = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto mixed = MakeMixedProblem(Random(seed), Random(seed + 1000), seed % 2 == 0 ? 0.5 : 4);
    mixed->given.global_batch = 16;
    mixed->given.data = 1;
    const MemoModel memo(mixed->model);
    std::vector<Cluster::NodeGroup> groups = mixed->cluster.groups();
    groups.resize(2);
    groups[0].count = 3;
    groups[0].type.devices = groups[0].type.nics = 1;
    groups[1].count = 2;
    groups[1].type.devices = groups[1].type.nics = 1;
    const Cluster whole("whole", groups);
    const double best = BestOf(AskOn(whole, *mixed, memo));
    for (int first = 1; first <= 3; ++first) {
      for (int second = 1; second <= 2; ++second) {
        if (first == 3 && second == 2) continue;
        std::vector<Cluster::NodeGroup> fewer = groups;
        fewer[0].count = first;
        fewer[1].count = second;
        const Cluster part("part", fewer);
        const double best_part = BestOf(AskOn(part, *mixed, memo));
        EXPECT_LE(best, best_part) << fmt::format("seed {}, {} + {} nodes", seed, first, second);
        parts += best_part < kInfinity;
        idle += best == best_part && best < kInfinity;
      }
    }
  }
  EXPECT_GT(parts, 10);
  EXPECT_GT(idle, 0);
}

TEST(SearchPartsTest, DegreesThatOnlyEqualStagesHaveAreFoundOnSeveralKindsOfGpu) {
  const auto mixed = MakeMixedProblem(Random(3), Random(1003), 2);
  const MemoModel memo(mixed->model);
  SearchProblem problem = AskOn(mixed->cluster, *mixed, memo);
  problem.choices.context = {2};
  problem.choices.zeros = {2};
  const SearchResult result = SearchExhaustively(problem, *MakePlanSpace(problem), {});
  ASSERT_FALSE(result.plans.empty());
  EXPECT_EQ(result.plans[0].plan.stages[0].context_parallel, 2);
  EXPECT_EQ(result.plans[0].plan.zero, 2);
}

// Lists of devices of one GPU type overlap, and pools of one GPU type also have plans of equal
// stages, so the same plan could be made several times.
TEST(SearchPartsTest, EachPlanOfAClusterIsMadeOnce) {
  int made = 0, alike = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto mixed = MakeMixedProblem(Random(seed), Random(seed + 1000), 2);
    const MemoModel memo(mixed->model);
    const Cluster of_one_kind("nodes", {NodesOf(*mixed, 2, 2), NodesOf(*mixed, 1, 4)});
    for (const Cluster* cluster : std::vector<const Cluster*>{&mixed->cluster, &of_one_kind}) {
      SearchProblem problem = AskOn(*cluster, *mixed, memo);
      problem.choices.device_counts = seed % 2 == 0 ? DeviceCounts::kAny : DeviceCounts::kHalves;
      const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
      EnumerateAll(*space);
      std::map<std::string, size_t> seen;
      std::map<std::pair<uint64_t, uint64_t>, int> keys;
      for (size_t i = 0; i < space->size(); ++i) {
        if (space->LeastTime(i) == Duration::Max()) continue;
        const auto [other, is_new] =
            seen.try_emplace(ToProto(space->Make(i)).SerializeAsString(), i);
        EXPECT_TRUE(is_new) << fmt::format("seed {}: plans {} and {}: {}", seed, other->second, i,
                                           space->Describe(i));
        const PlanKey key = space->Key(i);
        alike += keys[{key.first, key.second}]++ > 0 ? 1 : 0;
        ++made;
      }
    }
  }
  EXPECT_GT(made, 1000);
  EXPECT_GT(alike, 0);  // some plans that share a key differ, and both are kept
}

TEST(SearchPartsTest, WhateverTheBudgetAPlanIsFound) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto mixed = MakeMixedProblem(Random(seed), Random(seed + 1000), 4);
    const MemoModel memo(mixed->model);
    const SearchProblem problem = AskOn(mixed->cluster, *mixed, memo);
    for (const Budget& budget : {Budget{.evaluations = 1}, Budget{.seconds = 1e-9}}) {
      const SearchResult result =
          SearchExhaustively(problem, *MakePlanSpace(problem), {.budget = budget});
      EXPECT_EQ(result.evaluated, 1);
      EXPECT_EQ(result.plans.size(), 1u) << seed;
      EXPECT_GT(result.bound, 0);
      EXPECT_FALSE(result.is_optimal);
    }
  }
}

}  // namespace
}  // namespace stagecraft
