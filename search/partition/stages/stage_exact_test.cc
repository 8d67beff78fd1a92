#include "search/partition/stages/stage_exact.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/dag.h"
#include "search/partition/pipedream.h"
#include "search/partition/random_graph.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stop_everywhere.h"
#include "search/partition/stop_sign.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {
namespace {

TimedNode Node(const std::string& name, int compute_ms) {
  return {name, Duration::Seconds(compute_ms * 1e-3), {}, {}, {}};
}

// a (1 ms) -> b (4 ms), with one device of speed 1 and one of speed 2: b goes to the faster one and
// takes 2 ms; both operators on it would take 2.5 ms.
StageProblem SlowAndFast() {
  StageProblem problem;
  problem.graph.name = "two";
  problem.graph.nodes = {Node("a", 1), Node("b", 4)};
  const std::vector<std::string> names = {"a", "b"};
  const std::vector<DagEdge> edges = {{0, 1}};
  problem.graph.dag = MakeDag(names, edges, "two");
  problem.kinds = {{1, 1}, {1, 2}};
  problem.bandwidth = Bandwidth(1e9);
  return problem;
}

TEST(StageExactTest, HeavyOperatorGoesToTheFastDevice) {
  const auto exact = SolveStagesExactly(SlowAndFast());
  ASSERT_TRUE(exact);
  EXPECT_DOUBLE_EQ(exact->score, 2e-3);
  EXPECT_EQ(exact->plan.stage_of, (std::vector<int>{0, 1}));
  EXPECT_EQ(exact->plan.replicas[0].kind, 0);
  EXPECT_EQ(exact->plan.replicas[1].kind, 1);
}

// The 8 MB between a and b would take 2 * 8 ms at 1 GB/s, so there is no second device.
TEST(StageExactTest, DevicesStayUnusedIfTheyDoNotPay) {
  StageProblem problem = SlowAndFast();
  problem.graph.nodes[0].activation = Bytes(8'000'000);
  const auto exact = SolveStagesExactly(problem);
  ASSERT_TRUE(exact);
  EXPECT_DOUBLE_EQ(exact->score, 2.5e-3);
  EXPECT_EQ(exact->plan.stages(), 1);
}

TEST(StageExactTest, NothingFitsIfEveryMemoryIsTooSmall) {
  StageProblem problem = SlowAndFast();
  problem.graph.nodes[1].parameters = Bytes(100);
  for (StageDeviceKind& kind : problem.kinds) kind.memory = Bytes(99);
  EXPECT_FALSE(SolveStagesExactly(problem));
}

TEST(StageExactTest, EqualsTheBestOfAllPlansOfDrawnProblems) {
  for (int seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StageProblem problem = DrawStageProblem(Random(seed), 3, 6);
    ASSERT_TRUE(FindErrors(problem).empty());
    EveryStagePlan every(problem);
    const double least = every.LeastScore();
    const auto exact = SolveStagesExactly(problem);
    if (!exact) {
      // All plans exceed the memory, and their scores come behind all others.
      double sum = 0;
      for (const TimedNode& node : problem.graph.nodes) sum += node.compute().seconds();
      EXPECT_GT(least, sum);
      continue;
    }
    EXPECT_EQ(exact->score, least);
    EXPECT_TRUE(FindErrors(problem, exact->plan).empty());
    const StageCosts costs(problem);
    EXPECT_EQ(StageScorer(costs).Score(exact->plan), least);
  }
}

// Chains on equal devices are PipeDream's problem on one level.
TEST(StageExactTest, EqualsPipeDreamsPartitionerOnChains) {
  for (int seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StageProblem problem = DrawStageProblem(Random(seed), 3, 9);
    problem.kinds = {{4, 1}};
    std::vector<DagEdge> edges;
    for (int node = 0; node + 1 < problem.graph.dag.size(); ++node) {
      edges.push_back({node, node + 1});
    }
    problem.graph.nodes.back().activation = Bytes(0);
    problem.graph.dag = MakeDag(NumberedNames(problem.graph.dag.size()), edges, "chain");
    const PipeDreamOptions options{.levels = {{4, problem.bandwidth}},
                                   .activation_compression = 1.0,
                                   .use_fewer_machines = true};
    const double published =
        SolvePipeDream(FindAntichainStates(problem.graph), options).bottleneck_s;
    const auto exact = SolveStagesExactly(problem);
    ASSERT_TRUE(exact);
    EXPECT_NEAR(exact->score / published, 1, 1e-9);
  }
}

TEST(StageExactTest, ReturnsTheBestSoFarAndABoundIfStopped) {
  int with_answer = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StageProblem problem = DrawStageProblem(Random(seed), 3, 6);
    const StageCosts costs(problem);
    const auto whole = SolveStagesExactly(problem);
    if (!whole) continue;
    EXPECT_EQ(whole->bound, whole->score);
    EXPECT_GE(whole->score, costs.LeastSeconds() * (1 - 1e-12));
    double last = std::numeric_limits<double>::infinity();
    const Stops stops = StopEverywhere(
        [&](const StopSign& stop) { return *SolveStagesExactly(problem, 2000, stop); },
        [&](const ExactStages& found) {
          EXPECT_TRUE(FindErrors(problem, found.plan).empty());
          EXPECT_EQ(StageScorer(costs).Score(found.plan), found.score);
          EXPECT_LE(found.bound, whole->score * (1 + 1e-12));
          EXPECT_LE(found.score, last);
          last = found.score;
        });
    EXPECT_EQ(last, whole->score);
    EXPECT_GT(stops.without_answer, 0);
    with_answer += stops.with_answer;
  }
  EXPECT_GT(with_answer, 400);
}

TEST(StageExactTest, ManyDevicesLeaveRoomForFewerDownsets) {
  StageProblem problem;
  problem.kinds = {{.count = 8}, {.count = 8, .speed = 2}};
  EXPECT_EQ(MostExactDownsets(problem), 2000);
  problem.kinds = {{.count = 64}, {.count = 64, .speed = 2}};
  // sqrt(2e10 / (0.5 * 128 * 65 * 65))
  EXPECT_EQ(MostExactDownsets(problem), 271);
}

}  // namespace
}  // namespace stagecraft
