#include "search/partition/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "costmodel/shared_csv.h"
#include "search/partition/check_placement.h"
#include "search/partition/dag.h"
#include "search/partition/partition_check.h"
#include "search/partition/placement_problem.h"
#include "search/partition/random_graph.h"

namespace stagecraft {
namespace {

// a -> b: each takes 1 ms on an accelerator and 10 ms on a CPU; a transfer takes 2 ms.
PlacementProblem Pair() {
  PlacementProblem problem;
  problem.name = "pair";
  problem.dag = MakeDag(NumberedNames(2), std::vector<DagEdge>{{0, 1}}, problem.name);
  for (const char* name : {"a", "b"}) {
    problem.nodes.push_back(
        {.name = name, .accelerator_ms = 1, .cpu_ms = 10, .transfer_ms = 2, .bytes = 1});
    problem.groups.push_back({static_cast<int>(problem.groups.size())});
  }
  problem.accelerators = 2;
  problem.cpus = 1;
  problem.memory_bytes = 2;
  return problem;
}

TEST(LatencyTest, OutputsAreTransferredOutAndIn) {
  const PlacementProblem problem = Pair();
  EXPECT_EQ(LatencyOf(problem, {0, 0}), 2);
  EXPECT_EQ(LatencyOf(problem, {0, 1}), 1 + 2 + 2 + 1);
  EXPECT_EQ(LatencyOf(problem, {0, 2}), 1 + 2 + 10);
  EXPECT_EQ(LatencyOf(problem, {2, 2}), 20);
}

TEST(LatencyTest, AcceleratorsMayNotWaitInACycle) {
  PlacementProblem problem = Pair();
  problem.nodes.push_back(problem.nodes[1]);
  problem.groups.push_back({2});
  problem.dag = MakeDag(NumberedNames(3), std::vector<DagEdge>{{0, 1}, {1, 2}}, problem.name);
  EXPECT_FALSE(LatencyOf(problem, {0, 1, 0}).has_value());
  EXPECT_FALSE(CheckLatency(problem, {0, 1, 0}).errors.empty());
}

double BestOfAll(const PlacementProblem& problem) {
  double best = std::numeric_limits<double>::infinity();
  NodePlacement placement(problem.nodes.size(), 0);
  while (true) {
    const PartitionCheck check = CheckLatency(problem, placement);
    if (check.errors.empty()) {
      best = std::min(best, check.objective);
      EXPECT_NEAR(check.objective, *LatencyOf(problem, placement), 1e-9);
    }
    size_t node = 0;
    while (node < placement.size() && ++placement[node] == problem.devices()) placement[node++] = 0;
    if (node == placement.size()) return best;
  }
}

TEST(LatencyTest, SmallGraphsReachTheirOptimum) {
  Random random(6);
  int best_count = 0;
  constexpr int kRounds = 150;
  for (uint64_t round = 0; round < kRounds; ++round) {
    PlacementProblem problem = Pair();
    const auto nodes = static_cast<int>(random.Integer(2, 6));
    problem.dag = MakeDag(NumberedNames(nodes), DrawEdges(random, nodes), problem.name);
    problem.nodes.resize(nodes, problem.nodes[0]);
    problem.groups.clear();
    for (int node = 0; node < nodes; ++node) {
      problem.groups.push_back({node});
      problem.nodes[node].accelerator_ms = static_cast<double>(random.Integer(0, 9));
      problem.nodes[node].cpu_ms = static_cast<double>(random.Integer(0, 30));
      problem.nodes[node].transfer_ms = static_cast<double>(random.Integer(0, 5));
    }
    problem.memory_bytes = 3;
    const auto found = SolveLatency(problem, 2000, round);
    const PartitionCheck check = CheckLatency(problem, found->placement);
    EXPECT_TRUE(check.errors.empty()) << "round " << round;
    EXPECT_NEAR(check.objective, found->latency_ms, 1e-9) << "round " << round;
    const double best = BestOfAll(problem);
    EXPECT_GE(found->latency_ms, best - 1e-9) << "round " << round;
    best_count += found->latency_ms <= best + 1e-9;
  }
  EXPECT_GE(best_count, kRounds * 9 / 10);
}

TEST(LatencyTest, PublishedInstancesGainOverCpusAlone) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  for (const std::string name :
       {"LayerGraphs/bert24_inference", "LayerGraphs/gnmt_inference",
        "LayerGraphs/resnet50_inference", "OperatorGraphs/bert_l-3_inference"}) {
    const std::string path = SharedDataPath("planning/dnn-partitioning/latency/" + name + ".json");
    const PlacementProblem problem = ParsePlacementProblem(ReadFile(path), path);
    const auto found = SolveLatency(problem, 50'000, 1);
    ASSERT_TRUE(found.has_value());
    const PartitionCheck check = CheckLatency(problem, found->placement);
    EXPECT_TRUE(check.errors.empty()) << name << ": " << check.errors[0];
    EXPECT_NEAR(check.objective, found->latency_ms, 1e-9);
    const NodePlacement processors(problem.nodes.size(), problem.accelerators);
    EXPECT_LT(found->latency_ms, *LatencyOf(problem, processors)) << name;
    RecordProperty(name.substr(name.find('/') + 1), std::to_string(found->latency_ms));
  }
}

}  // namespace
}  // namespace stagecraft
