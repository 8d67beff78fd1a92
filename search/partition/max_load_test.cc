#include "search/partition/max_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/gzip.h"
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

// a -> b -> c of 3, 4 and 5 ms; a transfer takes 1 ms on either side.
PlacementProblem Chain() {
  return ParsePlacementProblem(
      R"({"maxFPGAs": 2, "maxCPUs": 0, "maxSizePerFPGA": 100, "nodes": [
          {"id": 1, "name": "a", "cpuLatency": 30, "fpgaLatency": 3, "size": 10},
          {"id": 2, "name": "b", "cpuLatency": 40, "fpgaLatency": 4, "size": 10},
          {"id": 3, "name": "c", "cpuLatency": 50, "fpgaLatency": 5, "size": 10}],
          "edges": [{"sourceId": 1, "destId": 2, "cost": 1},
                    {"sourceId": 2, "destId": 3, "cost": 1}]})",
      "chain.json");
}

TEST(MaxLoadTest, AChainIsCutWhereLoadsAreClosest) {
  PlacementProblem problem = Chain();
  const MaxLoad best = *SolveContiguousMaxLoad(problem);
  EXPECT_DOUBLE_EQ(best.max_load_ms, 8);  // a b | c: 3 + 4 + 1 and 1 + 5
  EXPECT_EQ(best.placement[0], best.placement[1]);
  EXPECT_NE(best.placement[1], best.placement[2]);
  problem.memory_bytes = 10;
  EXPECT_FALSE(SolveContiguousMaxLoad(problem).has_value());
  problem.cpus = 1;
  EXPECT_DOUBLE_EQ(SolveContiguousMaxLoad(problem)->max_load_ms, 30);  // a goes to the CPU
}

TEST(MaxLoadTest, BadFilesAreNamed) {
  const auto error_of = [](const std::string& text) {
    try {
      ParsePlacementProblem(text, "p.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string head = R"({"maxFPGAs": 1, "maxCPUs": 1, "maxSizePerFPGA": 1, "nodes": [)";
  const std::string a = R"({"id": 1, "cpuLatency": 1, "fpgaLatency": 1, "size": 1})";
  const std::string b = R"({"id": 2, "cpuLatency": 1, "fpgaLatency": 1, "size": 1})";
  EXPECT_EQ(error_of(head + R"(], "edges": []})"), "p.json: has no nodes, want at least one");
  EXPECT_EQ(error_of(head + a + "," + b + R"(], "edges": []})"),
            "p.json: nodes 1 and 2 are in different components, want a graph of one component");
  EXPECT_EQ(error_of(head + a + "," + b +
                     R"(], "edges": [{"sourceId": 1, "destId": 2, "cost": 0},
                                     {"sourceId": 2, "destId": 1, "cost": 0}]})"),
            "p.json: node 1 is on a cycle, want a graph without");
  EXPECT_EQ(error_of(head + a + R"(], "edges": [{"sourceId": 1, "destId": 3, "cost": 0}]})"),
            "p.json: edges[0].destId: got 3, want the id of a node");
  EXPECT_EQ(error_of(head + R"({"id": 1, "cpuLatency": -1, "fpgaLatency": 1, "size": 1}]})"),
            "p.json: nodes[0].cpuLatency: got -1, want a number of at least 0");
}

PlacementProblem DrawProblem(Random& random, int nodes) {
  PlacementProblem problem;
  problem.name = "drawn";
  problem.dag = MakeDag(NumberedNames(nodes), DrawEdges(random, nodes), problem.name);
  problem.accelerators = static_cast<int>(random.Integer(0, 2));
  problem.cpus = static_cast<int>(random.Integer(problem.accelerators == 0 ? 1 : 0, 1));
  problem.memory_bytes = static_cast<double>(random.Integer(10, 40));
  for (int node = 0; node < nodes; ++node) {
    PlacementNode& drawn = problem.nodes.emplace_back();
    drawn.accelerator_ms = static_cast<double>(random.Integer(0, 9));
    drawn.cpu_ms = drawn.accelerator_ms * 2;
    drawn.transfer_ms = static_cast<double>(random.Integer(0, 4));
    drawn.bytes = static_cast<double>(random.Integer(1, 9));
    drawn.runs_on_accelerator = random.Uniform() < 0.95;
    if (node > 0 && random.Uniform() < 0.2) {
      problem.groups.back().push_back(node);
    } else {
      problem.groups.push_back({node});
    }
  }
  return problem;
}

struct Optima {
  double contiguous = std::numeric_limits<double>::infinity();
  double any = std::numeric_limits<double>::infinity();
};

Optima BestOfAll(const PlacementProblem& problem) {
  Optima best;
  NodePlacement placement(problem.nodes.size(), 0);
  while (true) {
    PartitionCheck check = CheckMaxLoad(problem, placement);
    if (check.errors.empty()) {
      best.any = std::min(best.any, check.objective);
      CheckContiguity(problem, placement, check.errors);
      if (check.errors.empty()) best.contiguous = std::min(best.contiguous, check.objective);
    }
    size_t node = 0;
    while (node < placement.size() && ++placement[node] == problem.devices()) placement[node++] = 0;
    if (node == placement.size()) return best;
  }
}

// Every operator takes time: a leaf that takes none stays with its neighbour even if only another
// device has the memory for it.
TEST(MaxLoadTest, NoPlacementOfSmallGraphsIsBetter) {
  Random random(5);
  int feasible = 0;
  int annealed_best = 0;
  for (uint64_t round = 0; round < 200; ++round) {
    PlacementProblem problem = DrawProblem(random, static_cast<int>(random.Integer(1, 6)));
    for (PlacementNode& node : problem.nodes) {
      node.accelerator_ms += 1;
      node.cpu_ms += 2;
    }
    const Optima best = BestOfAll(problem);
    const auto found = SolveContiguousMaxLoad(problem);
    ASSERT_EQ(found.has_value(), best.contiguous < std::numeric_limits<double>::infinity())
        << "round " << round;
    if (!found) continue;
    ++feasible;
    EXPECT_NEAR(found->max_load_ms, best.contiguous, 1e-9) << "round " << round;
    const PartitionCheck check = CheckMaxLoad(problem, found->placement);
    EXPECT_TRUE(check.errors.empty()) << "round " << round << ": " << check.errors[0];
    const MaxLoad annealed = ImproveMaxLoad(problem, found->placement, 2000, round);
    EXPECT_TRUE(CheckMaxLoad(problem, annealed.placement).errors.empty()) << "round " << round;
    EXPECT_GE(annealed.max_load_ms, best.any - 1e-9) << "round " << round;
    annealed_best += annealed.max_load_ms <= best.any + 1e-9;
  }
  EXPECT_GT(feasible, 100);
  EXPECT_GE(annealed_best, feasible * 95 / 100);
}

PlacementProblem SharedInstance(const std::string& folder, const std::string& instance) {
  std::string path =
      SharedDataPath("planning/dnn-partitioning/" + folder + "/" + instance + ".json");
  try {
    return ParsePlacementProblem(ReadFile(path), path);
  } catch (const InputError&) {
    path += ".gz";
    return ParsePlacementProblem(Gunzip(ReadFile(path), path), path);
  }
}

// Published figures have six digits.
constexpr double kDigits = 1e-5;

// A short run is enough for most; the others need the long one.
constexpr int64_t kSteps[] = {200'000, 3'000'000};

void ExpectAsGoodAs(const PlacementProblem& problem, double contiguous_ms, double any_ms) {
  const auto found = SolveContiguousMaxLoad(problem);
  ASSERT_TRUE(found.has_value());
  PartitionCheck check = CheckMaxLoad(problem, found->placement);
  CheckContiguity(problem, found->placement, check.errors);
  EXPECT_TRUE(check.errors.empty()) << check.errors.front();
  EXPECT_NEAR(check.objective, found->max_load_ms, 1e-6);
  EXPECT_NEAR(found->max_load_ms / contiguous_ms, 1, kDigits) << problem.name;
  const double most_ms = any_ms * (1 + kDigits);
  MaxLoad annealed = ImproveMaxLoad(problem, found->placement, kSteps[0], 1);
  if (annealed.max_load_ms > most_ms) {
    annealed = ImproveMaxLoad(problem, found->placement, kSteps[1], 1);
  }
  check = CheckMaxLoad(problem, annealed.placement);
  EXPECT_TRUE(check.errors.empty()) << check.errors.front();
  EXPECT_NEAR(check.objective, annealed.max_load_ms, 1e-6);
  EXPECT_LE(annealed.max_load_ms, most_ms) << problem.name;
}

TEST(MaxLoadTest, EveryPublishedInstanceIsAtItsBestKnownLoadOrBelow) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::vector<CsvRow> rows = ReadSharedTable("planning/dnn-partitioning/best_known.csv");
  ASSERT_EQ(rows.size(), 9u);
  for (const CsvRow& row : rows) {
    ExpectAsGoodAs(SharedInstance("throughput/" + row.at("graph"), row.at("instance")),
                   Number(row, "dp"), Number(row, "best_any"));
  }
}

TEST(MaxLoadTest, EveryInstanceWithMendedUnitsIsAtItsBestKnownLoad) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::vector<CsvRow> rows =
      ReadSharedTable("planning/dnn-partitioning/best_known_fixed.csv");
  ASSERT_EQ(rows.size(), 4u);
  for (const CsvRow& row : rows) {
    ExpectAsGoodAs(SharedInstance("throughput_fixed/LayerGraphs", row.at("instance")),
                   Number(row, "dp"), Number(row, "sa_noncontiguous"));
  }
}

}  // namespace
}  // namespace stagecraft
