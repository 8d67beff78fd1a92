// Tests the bounds on which the proofs of a search rest: no plan of a space, on any nodes, with any
// rank order and for any network, takes less in the simulation than its bounds.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/candidate.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/node_catalogue.h"
#include "sim/cluster/test_nodes.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Counted {
  int simulated = 0;
  int collectives = 0;  // plans with tensor or context groups of several ranks
};

// Checks that no enumerated plan is below the bound of all that were still to come, and that none
// of `draws` plans takes less time and memory than its bounds.
void CheckBounds(const SearchProblem& problem, PlanSpace& space, int draws, uint64_t seed,
                 Counted* counted) {
  while (const std::optional<double> rest = space.BoundOfRest()) {
    const size_t before = space.size();
    space.EnumerateMore();
    for (size_t i = before; i < space.size(); ++i) {
      ASSERT_GE(space.Bound(i), *rest) << space.Describe(i);
    }
  }
  PlanRanker ranker(problem);
  Random random(seed);
  for (int draw = 0; draw < draws && space.size() > 0; ++draw) {
    const auto index =
        static_cast<size_t>(random.Integer(0, static_cast<int64_t>(space.size()) - 1));
    std::optional<Plan> plan = MakeCandidate(problem, space, index);
    if (!plan) continue;
    const Stage first = plan->stages[0];
    const RankedPlan ranked = ranker.Rank(std::move(*plan));
    const std::string text = fmt::format("{} on {}: {}", problem.workload.name,
                                         problem.cluster.name(), space.Describe(index));
    EXPECT_LE(space.LeastMemory(index).Share(), MemoryShare(ranked.evaluation.memory)) << text;
    if (!ranked.evaluation.fits) continue;
    EXPECT_LE(space.LeastTime(index), ranked.evaluation.step_time) << text;
    ++counted->simulated;
    counted->collectives += first.tensor_parallel * first.context_parallel > 1 ? 1 : 0;
  }
}

// Checks that the best plan does not depend on how many plans are asked for.
void CheckTop(const SearchProblem& problem) {
  double best[2] = {};
  for (const int top : {1, 200}) {
    const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
    const SearchResult result = SearchExhaustively(problem, *space, {.top = top});
    EXPECT_TRUE(result.plans.empty() || result.is_optimal);
    best[top == 1 ? 0 : 1] = result.plans.empty() ? kInfinity : result.plans[0].score;
  }
  EXPECT_EQ(best[0], best[1]) << problem.workload.name << " on " << problem.cluster.name();
}

Workload SmallDecoder(const char* family) {
  const DecoderConfig config = SizedDecoder(family, {.layers = 4,
                                                     .hidden = 640,
                                                     .heads = 20,
                                                     .kv_heads = 20,
                                                     .ffn = 2560,
                                                     .vocab = 40960,
                                                     .max_sequence = 1024});
  return BuildDecoder(config, AttentionBackend::kFlash, family);
}

SearchProblem Ask(const Workload& workload, const Cluster& cluster, const CostModel& model) {
  SearchProblem problem{workload, cluster, model, {}, {}};
  problem.given.global_batch = 12;
  problem.given.sequence = 1024;
  problem.given.precision = DType::kFp32;
  problem.choices.device_counts = DeviceCounts::kAny;
  problem.choices.micro_batches = {1};
  problem.choices.zeros = {0, 1};
  problem.choices.recomputes = {Recompute::kNone};
  problem.choices.rank_orders = {kDefaultRankOrder, kStagesFirstRankOrder, "dp-tp-cp-ep-pp",
                                 "pp-cp-tp-ep-dp"};
  return problem;
}

TEST(SearchBoundsTest, HoldOnEveryNodeOfTheCatalogueWithEveryOrderOfRanks) {
  const AnalyticalModel model;
  const Workload workload = SmallDecoder("llama");
  Counted counted;
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    const MemoModel memo(model);
    const int nodes = entry.type.nics > 0 ? 2 : 1;
    const Cluster cluster(entry.type.id, {{entry.type, nodes}});
    SearchProblem problem = Ask(workload, cluster, memo);
    // Some GPU types multiply 32-bit numbers by their vector units alone.
    if (entry.type.device.Peak(problem.given.precision) == FlopRate()) {
      problem.given.precision = DType::kBf16;
    }
    CheckBounds(problem, *MakePlanSpace(problem), 16, 1, &counted);
    // The stage with the head decides the step time, and its groups are not the first devices.
    problem.given.global_batch = 48;
    problem.choices.tensor = {2, 4};
    problem.choices.pipeline = {2, 4};
    problem.choices.context = {1};
    CheckBounds(problem, *MakePlanSpace(problem), 24, 1, &counted);
  }
  EXPECT_GT(counted.collectives, 1000);
}

// A cluster in which every pair of devices has a link with a speed of its own.
Cluster Wired(uint64_t seed) {
  Random random(seed);
  const int devices = static_cast<int>(random.Integer(4, 8));
  NodeType type = Switched();
  type.id = "wired";
  type.devices = devices;
  type.device = MakeSmallProblem(Random(seed), 8)->cluster.device(0);
  std::vector<Cluster::ExplicitLink> links;
  for (int a = 0; a < devices; ++a) {
    for (int b = a + 1; b < devices; ++b) {
      const Link link =
          MakeLink(LinkKind::kNvlink, 1_us, static_cast<double>(random.Integer(5, 300)));
      const std::string from = fmt::format("node0/gpu{}", a), to = fmt::format("node0/gpu{}", b);
      links.push_back({from, to, link});
      links.push_back({to, from, link});
    }
  }
  return Cluster(fmt::format("wired{}", seed), {{type, 1}}, links);
}

TEST(SearchBoundsTest, HoldWhereEveryPairOfDevicesHasALinkOfItsOwn) {
  const AnalyticalModel model;
  const Workload workload = SmallDecoder("llama");
  Counted counted;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const MemoModel memo(model);
    const Cluster cluster = Wired(seed);
    SearchProblem problem = Ask(workload, cluster, memo);
    CheckBounds(problem, *MakePlanSpace(problem), 60, seed, &counted);
    problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
    CheckTop(problem);
  }
  EXPECT_GT(counted.collectives, 300);
}

// Of ten ranks on nodes of eight devices, a group with six and four on its two nodes has more of
// the network than one with eight and two.
TEST(SearchBoundsTest, HoldWhereGroupsStraddleNodesUnevenly) {
  const AnalyticalModel model;
  const Workload workload = SmallDecoder("llama");
  Counted counted;
  for (const int nodes : {3, 5}) {
    const MemoModel memo(model);
    const Cluster catalogued = ParseCluster(fmt::format("a100-sxm4-80gb:{}x8", nodes));
    SearchProblem problem = Ask(workload, catalogued, memo);
    problem.given.global_batch = 20;
    problem.choices.tensor = {5, 10, 20};
    CheckBounds(problem, *MakePlanSpace(problem), 150, 7, &counted);
  }
  EXPECT_GT(counted.collectives, 100);
}

TEST(SearchBoundsTest, HoldForExpertsOnUnlikePairs) {
  const AnalyticalModel model;
  const DecoderConfig config = SizedDecoder("mixtral", {.layers = 4,
                                                        .hidden = 512,
                                                        .heads = 8,
                                                        .kv_heads = 8,
                                                        .ffn = 1024,
                                                        .vocab = 4096,
                                                        .max_sequence = 1024});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "mixtral");
  Counted counted;
  for (const char* id : {"aws-p3.16xlarge", "dgx-h100"}) {
    const MemoModel memo(model);
    const Cluster cluster = ParseCluster(fmt::format("{}:2", id));
    SearchProblem problem = Ask(workload, cluster, memo);
    CheckBounds(problem, *MakePlanSpace(problem), 250, 3, &counted);
  }
  EXPECT_GT(counted.simulated, 200);
}

TEST(SearchBoundsTest, HoldForEveryOrderOfPasses) {
  const AnalyticalModel model;
  const Workload workload = SmallDecoder("llama");
  const MemoModel memo(model);
  const Cluster cluster = ParseCluster("aws-p3.16xlarge:1");
  SearchProblem problem = Ask(workload, cluster, memo);
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    if (!IsAsynchronous(schedule)) problem.choices.schedules.push_back(schedule);
  }
  Counted counted;
  CheckBounds(problem, *MakePlanSpace(problem), 600, 11, &counted);
  EXPECT_GT(counted.simulated, 300);
}

// Networks whose blocks differ from each other.
std::vector<Workload> UnlikeNetworks() {
  std::vector<Workload> networks;
  for (const char* name : {"unet", "resnet50", "vgg16", "t5-small", "gnmt-8"}) {
    networks.push_back(LoadWorkload(name, AttentionBackend::kFlash));
  }
  networks.push_back(Frozen(networks[2], {0, 1, 2, 3, 9}));
  return networks;
}

Cluster TwoKinds() { return ParseCluster("a100-sxm4-40gb:1x4+v100-sxm2-32gb:1x8"); }

TEST(SearchBoundsTest, HoldForUnlikeBlocksOnSeveralKindsOfGpu) {
  const AnalyticalModel model;
  Counted counted;
  for (const Workload& workload : UnlikeNetworks()) {
    const MemoModel memo(model);
    const Cluster cluster = TwoKinds();
    SearchProblem problem = Ask(workload, cluster, memo);
    problem.given.sequence =
        workload.max_sequence > 0 ? std::min<int64_t>(64, workload.max_sequence) : 1;
    problem.choices.rank_orders = {};
    CheckBounds(problem, *MakePooledStages(problem), 60, 5, &counted);
    problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
    CheckTop(problem);
  }
  EXPECT_GT(counted.simulated, 150);
}

// A network that fits a cluster still fits if the cluster gets more GPUs, of whatever type.
TEST(SearchBoundsTest, MoreGpusNeverMakeANetworkFitNowhere) {
  const AnalyticalModel model;
  int fitting = 0;
  for (const Workload& workload : UnlikeNetworks()) {
    for (const double gigabytes : {1.5, 2.5, 6.0}) {
      const MemoModel memo(model);
      std::vector<Cluster::NodeGroup> groups = TwoKinds().groups();
      for (Cluster::NodeGroup& group : groups) {
        group.type.device.memory = Bytes(static_cast<int64_t>(gigabytes * 1e9));
      }
      const auto fits = [&](const std::vector<Cluster::NodeGroup>& nodes) {
        const Cluster cluster("some", nodes);
        SearchProblem problem = Ask(workload, cluster, memo);
        problem.given.sequence =
            workload.max_sequence > 0 ? std::min<int64_t>(64, workload.max_sequence) : 1;
        problem.choices.rank_orders = {};
        problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
        return !SearchExhaustively(problem, *MakePlanSpace(problem), {}).plans.empty();
      };
      Cluster::NodeGroup more = groups[1];
      more.type = UseDevices(more.type, 4);
      for (const Cluster::NodeGroup& group : groups) {
        if (!fits({group})) continue;
        ++fitting;
        EXPECT_TRUE(fits(groups)) << workload.name << " " << gigabytes;
        EXPECT_TRUE(fits({group, more})) << workload.name << " " << gigabytes;
      }
    }
  }
  EXPECT_GT(fitting, 5);
}

}  // namespace
}  // namespace stagecraft
