// Tests which rank orders a search tries: only one if the other takes as long, and both if they may
// differ.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/plan_space.h"
#include "search/plans/draft_moves.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_maker.h"
#include "search/plans/plan_starts.h"
#include "sim/cluster/test_nodes.h"
#include "sim/step/evaluation.h"
#include "tests/enumerated_plans.h"
#include "tests/laws.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

NodeType Wired(NodeType type, Wiring wiring) {
  type.wiring = wiring;
  type.nvls = false;
  return type;
}

// A node whose devices are below this many PCIe switches of one root complex.
NodeType BelowSwitches(int switches) {
  NodeType type = Wired(CubeMeshNode(), Wiring::kPcie);
  type.pcie.roots = 1;
  type.pcie.switch_root.assign(switches, 0);
  type.pcie.device_switch = SpreadEvenly(type.devices, switches);
  type.pcie.nic_switch = {0};
  type.pcie.uplinks.assign(switches, MakeLink(LinkKind::kPcie, 1_us, 10));
  return type;
}

Cluster Of(NodeType type, int nodes) {
  type.device.memory = Bytes(int64_t{1} << 40);
  return Cluster(type.id, {{type, nodes}});
}

// A node whose devices have links of their own to a hub, half of which are slower.
Cluster OverOwnLinks(NodeType type) {
  type.device.memory = Bytes(int64_t{1} << 40);
  std::vector<Cluster::ExplicitLink> links;
  for (int device = 0; device < type.devices; ++device) {
    const std::string name = fmt::format("node0/gpu{}", device);
    const Link link = MakeLink(LinkKind::kPcie, 1_us, device % 4 < 2 ? 50 : 10);
    links.push_back({name, "hub", link});
    links.push_back({"hub", name, link});
  }
  return Cluster("own links", {{type, 1}}, links);
}

NodeType WithGpuOf(const SmallProblem& small, NodeType type) {
  type.device = small.cluster.device(0);
  return type;
}

// Clusters of one node that joins any two devices alike.
std::vector<Cluster> AlikeClusters(const SmallProblem& small) {
  return {Of(WithGpuOf(small, Switched()), 1),
          Of(WithGpuOf(small, Wired(Switched(), Wiring::kAllPairs)), 1),
          Of(WithGpuOf(small, Wired(CubeMeshNode(), Wiring::kPcie)), 1),
          Of(WithGpuOf(small, BelowSwitches(1)), 1)};
}

std::vector<Cluster> UnevenClusters(const SmallProblem& small) {
  return {Of(WithGpuOf(small, CubeMeshNode()), 1),   Of(WithGpuOf(small, Pairs()), 2),
          Of(WithGpuOf(small, BelowSwitches(4)), 1), Of(WithGpuOf(small, Switched()), 2),
          Of(WithGpuOf(small, Rack()), 4),           OverOwnLinks(WithGpuOf(small, Switched()))};
}

// A problem with the network of the small one on another cluster.
SearchProblem AskOn(const Cluster& cluster, const SmallProblem& small, const CostModel& model) {
  SearchProblem problem{
      .workload = small.workload, .cluster = cluster, .model = model, .given = small.given};
  problem.choices.micro_batches = {1, 4};
  problem.choices.recomputes = {Recompute::kNone};
  return problem;
}

Evaluation Simulate(const SearchProblem& problem, const Plan& plan) {
  return SimulateStep(plan, problem.workload, problem.cluster, problem.model).evaluation;
}

bool AreEqual(const Evaluation& one, const Evaluation& other) {
  return one.step_time == other.step_time && MemoryShare(one.memory) == MemoryShare(other.memory);
}

// Numbers of drawn plans of a space that were simulated with both rank orders.
struct Compared {
  int once = 0;       // plans of which only one order is in the space
  int different = 0;  // plans of which both are, with different results
};

Compared CompareOrders(const SearchProblem& problem, uint64_t seed) {
  constexpr int kDraws = 40;
  const auto name = [](const PlanDegrees& d) {
    return fmt::format("{} {} {}", laws::Describe(d), d.data, Name(d.schedule));
  };
  std::map<std::string, int> orders;
  std::vector<PlanDegrees> space = EnumerateDegrees(problem);
  for (const PlanDegrees& degrees : space) ++orders[name(degrees)];
  std::erase_if(space, [](const PlanDegrees& d) { return d.pipeline == 1 || d.data == 1; });
  Compared compared;
  Random random(seed);
  for (int draw = 0; draw < kDraws && !space.empty(); ++draw) {
    PlanDegrees degrees = space[random.Integer(0, static_cast<int64_t>(space.size()) - 1)];
    const bool has_both = orders.at(name(degrees)) == 2;
    const auto with = [&](const char* order) {
      degrees.rank_order = order;
      return Simulate(problem, MakePlan(degrees, problem.workload, problem.cluster));
    };
    const bool is_equal = AreEqual(with(kDefaultRankOrder), with(kStagesFirstRankOrder));
    EXPECT_TRUE(has_both || is_equal) << problem.cluster.name() << " " << name(degrees);
    compared.once += !has_both;
    compared.different += has_both && !is_equal;
  }
  return compared;
}

TEST(RankOrdersTest, OneIsTriedIfDevicesAreAlikeAndTheOtherTakesAsLong) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 2);
    if (seed % 4 == 1) small->given.gradient_sync.method = SyncMethod::kHierarchical;
    const MemoModel memo(small->model);
    for (const Cluster& cluster : AlikeClusters(*small)) {
      SearchProblem problem = AskOn(cluster, *small, memo);
      if (seed % 2 == 1) problem.choices.device_counts = DeviceCounts::kHalves;
      if (seed % 2 == 0) {
        problem.choices.schedules = {PipelineSchedule::kGpipe,
                                     PipelineSchedule::kOneForwardOneBackward,
                                     PipelineSchedule::kZeroBubbleV, PipelineSchedule::kDualPipe,
                                     PipelineSchedule::kChimera};
      }
      for (const PlanDegrees& degrees : EnumerateDegrees(problem)) {
        EXPECT_EQ(degrees.rank_order, kDefaultRankOrder) << laws::Describe(degrees);
      }
      EXPECT_EQ(CompareOrders(problem, seed).once, 40) << cluster.name();
    }
  }
}

TEST(RankOrdersTest, BothAreTriedIfSomeDevicesAreFasterThanOthers) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 2);
    const MemoModel memo(small->model);
    for (const Cluster& cluster : UnevenClusters(*small)) {
      const SearchProblem problem = AskOn(cluster, *small, memo);
      EXPECT_GT(CompareOrders(problem, seed).different, 0) << cluster.name();
    }
  }
}

// The clusters have four nodes of eight devices.
TEST(RankOrdersTest, GroupsThatFillDomainsAreTriedOnce) {
  int once = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 2);
    const MemoModel memo(small->model);
    for (const NodeType& type : {Switched(), CubeMeshNode()}) {
      const Cluster cluster = Of(WithGpuOf(*small, type), 4);
      SearchProblem problem = AskOn(cluster, *small, memo);
      problem.choices.tensor = {4, 8};
      once += CompareOrders(problem, seed).once;
    }
  }
  EXPECT_GT(once, 20);
}

TEST(RankOrdersTest, OneIsTriedIfBothAreAskedForAndTakeAsLong) {
  const auto small = MakeSmallProblem(Random(1), 2);
  for (const Cluster& cluster : AlikeClusters(*small)) {
    SearchProblem problem = AskOn(cluster, *small, small->model);
    const size_t usual = EnumerateDegrees(problem).size();
    problem.choices.rank_orders = {kStagesFirstRankOrder, kDefaultRankOrder, "dp-tp-cp-ep-pp"};
    EXPECT_EQ(EnumerateDegrees(problem).size(), usual);
  }
}

// Checks the drafts on a walk: if a draft has only one rank order, it takes as long with the other;
// else the other order is one move away. Returns how many drafts had one order although they had
// several stages and replicas.
int WalkOrders(const SearchProblem& problem, uint64_t seed) {
  const auto space =
      problem.cluster.homogeneous() ? MakeEqualStages(problem) : MakePooledStages(problem);
  const DraftMoves moves(problem);
  const PlanMaker maker(problem);
  PlanDraft draft = FindStarts(problem, *space, 1).at(0).draft;
  Random random(seed);
  int once = 0;
  for (int i = 0; i < 60; ++i) {
    draft = moves.Draw(draft, random).value();
    PlanDraft other = draft;
    const bool is_usual = draft.rank_order == kDefaultRankOrder;
    other.rank_order = is_usual ? kStagesFirstRankOrder : kDefaultRankOrder;
    const std::vector<PlanDraft> all = moves.All(draft);
    const bool is_near = std::find(all.begin(), all.end(), other) != all.end();
    EXPECT_EQ(is_near, HasRankOrders(draft, problem.cluster)) << draft.Describe();
    EXPECT_EQ(Settled(other, problem) == draft, !is_near) << draft.Describe();
    if (is_near) continue;
    EXPECT_TRUE(is_usual);
    EXPECT_TRUE(
        AreEqual(Simulate(problem, maker.Make(draft)), Simulate(problem, maker.Make(other))))
        << problem.cluster.name() << " " << draft.Describe();
    once += draft.stages.size() > 1 && draft.replica_count() > 1;
  }
  return once;
}

TEST(RankOrdersTest, DraftsHaveOneIfTheOtherTakesAsLong) {
  int alike = 0, mixed = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 2);
    const MemoModel memo(small->model);
    for (const Cluster& cluster : AlikeClusters(*small)) {
      alike += WalkOrders(AskOn(cluster, *small, memo), seed);
    }
    for (const Cluster& cluster : UnevenClusters(*small)) {
      WalkOrders(AskOn(cluster, *small, memo), seed);
    }
    const auto unlike = MakeMixedProblem(Random(seed));
    const MemoModel other_memo(unlike->model);
    mixed += WalkOrders(unlike->Ask(other_memo), seed);
  }
  EXPECT_GT(alike, 60);
  EXPECT_GT(mixed, 20);
}

}  // namespace
}  // namespace stagecraft
