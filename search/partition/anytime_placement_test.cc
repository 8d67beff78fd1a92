// Tests the placements of searches that are stopped before they are done.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>

#include "costmodel/random.h"
#include "search/partition/check_placement.h"
#include "search/partition/dag.h"
#include "search/partition/latency.h"
#include "search/partition/max_load.h"
#include "search/partition/partition_check.h"
#include "search/partition/placement_problem.h"
#include "search/partition/random_graph.h"
#include "search/partition/stop_everywhere.h"
#include "search/partition/stop_sign.h"
#include "search/solution.h"

namespace stagecraft {
namespace {

constexpr double kRounding = 1e-9;
constexpr int kSeeds = 10;

PlacementProblem DrawPlacementProblem(Random& random, int nodes) {
  PlacementProblem problem;
  problem.name = "drawn";
  problem.dag = MakeDag(NumberedNames(nodes), DrawEdges(random, nodes), problem.name);
  problem.accelerators = 2;
  problem.cpus = 1;
  problem.memory_bytes = static_cast<double>(3 * nodes);
  for (int node = 0; node < nodes; ++node) {
    PlacementNode& drawn = problem.nodes.emplace_back();
    drawn.accelerator_ms = static_cast<double>(random.Integer(1, 9));
    drawn.cpu_ms = drawn.accelerator_ms * 2;
    drawn.transfer_ms = static_cast<double>(random.Integer(0, 4));
    drawn.bytes = static_cast<double>(random.Integer(1, 4));
    problem.groups.push_back({node});
  }
  return problem;
}

TEST(AnytimeTest, ContiguousPlacementsAreSoundFromTheFirstOn) {
  int with_answer = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const PlacementProblem problem = DrawPlacementProblem(random, 8);
    const auto whole = SolveContiguousMaxLoad(problem);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->bound_ms, whole->max_load_ms);
    const Stops stops =
        StopEverywhere([&](const StopSign& stop) { return *SolveContiguousMaxLoad(problem, stop); },
                       [&](const MaxLoad& found) {
                         PartitionCheck check = CheckMaxLoad(problem, found.placement);
                         CheckContiguity(problem, found.placement, check.errors);
                         EXPECT_TRUE(check.errors.empty());
                         EXPECT_NEAR(check.objective, found.max_load_ms, kRounding);
                         EXPECT_LE(found.bound_ms, whole->max_load_ms + kRounding);
                         EXPECT_GE(found.max_load_ms, whole->max_load_ms);
                       });
    EXPECT_GT(stops.without_answer, 0);
    with_answer += stops.with_answer;
  }
  EXPECT_GT(with_answer, kSeeds);
}

TEST(AnytimeTest, AnnealingReturnsTheBestSoFar) {
  Random random(5);
  const PlacementProblem problem = DrawPlacementProblem(random, 8);
  const NodePlacement start = SpreadInOrder(problem);
  double last = std::numeric_limits<double>::infinity();
  Stops stops = StopEverywhere(
      [&](const StopSign& stop) { return ImproveMaxLoad(problem, start, 3000, 1, stop); },
      [&](const MaxLoad& found) {
        EXPECT_NEAR(CheckMaxLoad(problem, found.placement).objective, found.max_load_ms, kRounding);
        EXPECT_LE(found.bound_ms, found.max_load_ms + kRounding);
        last = found.max_load_ms;
      });
  EXPECT_EQ(last, ImproveMaxLoad(problem, start, 3000, 1).max_load_ms);
  EXPECT_EQ(stops.without_answer, 0);
  EXPECT_GT(stops.with_answer, 10);
  stops = StopEverywhere(
      [&](const StopSign& stop) { return *SolveLatency(problem, 3000, 1, stop); },
      [&](const LatencyPlacement& found) {
        EXPECT_NEAR(CheckLatency(problem, found.placement).objective, found.latency_ms, kRounding);
        EXPECT_LE(found.bound_ms, found.latency_ms + kRounding);
        last = found.latency_ms;
      });
  EXPECT_EQ(last, SolveLatency(problem, 3000, 1)->latency_ms);
  EXPECT_GT(stops.with_answer, 10);
}

// Without the stop it would go on forever.
TEST(AnytimeTest, AnotherThreadMayStopTheAnnealing) {
  constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();
  Random random(6);
  const PlacementProblem problem = DrawPlacementProblem(random, 8);
  std::atomic<bool> flag = false;
  const StopSign stop(Budget{.stop = &flag});
  std::jthread other([&] { flag = true; });
  const MaxLoad placed = ImproveMaxLoad(problem, SpreadInOrder(problem), kForEver, 1, stop);
  EXPECT_TRUE(CheckMaxLoad(problem, placed.placement).errors.empty());
  EXPECT_TRUE(SolveLatency(problem, kForEver, 1, stop).has_value());
}

}  // namespace
}  // namespace stagecraft
