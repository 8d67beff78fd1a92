// Tests published planners that are stopped before they are done.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/check_planners.h"
#include "search/partition/dag.h"
#include "search/partition/dapple.h"
#include "search/partition/downsets.h"
#include "search/partition/het_pipe.h"
#include "search/partition/partition_check.h"
#include "search/partition/pipedream.h"
#include "search/partition/piper.h"
#include "search/partition/piper_problem.h"
#include "search/partition/random_graph.h"
#include "search/partition/stop_everywhere.h"
#include "search/partition/stop_sign.h"
#include "search/partition/timed_graph.h"
#include "search/partition/two_buffer.h"
#include "search/solution.h"

namespace stagecraft {
namespace {

constexpr double kRounding = 1e-9;
constexpr int kSeeds = 10;

TimedGraph DrawTimedGraph(Random& random, int nodes) {
  TimedGraph graph{"drawn", {}, MakeDag(NumberedNames(nodes), DrawEdges(random, nodes), "drawn")};
  for (const std::string& name : NumberedNames(nodes)) {
    TimedNode& node = graph.nodes.emplace_back();
    node.name = name;
    node.forward = Duration::Nanoseconds(random.Integer(1'000, 1'000'000));
    node.backward = node.forward;
    node.activation = Bytes(random.Integer(0, 300'000));
    node.parameters = Bytes(random.Integer(0, 300'000));
  }
  return graph;
}

// Returns a chain of nodes that take 1 ms.
TimedGraph Chain(int nodes) {
  std::vector<DagEdge> edges;
  for (int node = 1; node < nodes; ++node) edges.push_back({node - 1, node});
  TimedGraph graph{"chain", {}, MakeDag(NumberedNames(nodes), edges, "chain")};
  for (const std::string& name : NumberedNames(nodes)) {
    graph.nodes.push_back({name, Duration::Seconds(1e-3), {}, Bytes(1000), Bytes(1000)});
  }
  return graph;
}

TEST(StopSignTest, IsUpByTheFlagTheClockOrTheNumberOfLooks) {
  EXPECT_FALSE(StopSign().IsUp());
  std::atomic<bool> flag = false;
  const StopSign by_flag(Budget{.evaluations = 1, .seconds = 1e9, .stop = &flag});
  EXPECT_FALSE(by_flag.IsUp());
  EXPECT_FALSE(by_flag.was_obeyed());
  flag = true;
  EXPECT_THROW(by_flag.Check(), Stopped);
  EXPECT_TRUE(by_flag.was_obeyed());
  EXPECT_TRUE(StopSign(Budget{.seconds = 1e-9}).IsUp());
  const StopSign third = StopSign::AfterLooks(2);
  EXPECT_FALSE(third.IsUp());
  EXPECT_FALSE(third.IsUp());
  EXPECT_TRUE(third.IsUp());
  EXPECT_TRUE(third.IsUp());
}

TEST(AnytimeTest, ListsOfStatesAreCompleteOrMissing) {
  Random random(1);
  const TimedGraph graph = DrawTimedGraph(random, 8);
  const size_t downsets = FindDownsets(graph.dag, "drawn").size();
  EXPECT_GT(StopEverywhere(
                [&](const StopSign& stop) {
                  return FindDownsets(graph.dag, "drawn", kMostDownsets, stop);
                },
                [&](const std::vector<NodeSet>& found) { EXPECT_EQ(found.size(), downsets); })
                .without_answer,
            3);
  const int states = FindAntichainStates(graph).size();
  EXPECT_GT(StopEverywhere(
                [&](const StopSign& stop) {
                  return FindAntichainStates(graph, kMostAntichainStates, stop);
                },
                [&](const AntichainStates& found) { EXPECT_EQ(found.size(), states); })
                .without_answer,
            3);
}

TEST(AnytimeTest, PipeDreamHasNoAnswerBeforeItIsDone) {
  Random random(2);
  const TimedGraph graph = DrawTimedGraph(random, 7);
  const AntichainStates states = FindAntichainStates(graph);
  const PipeDreamOptions options{.levels = {{2, Bandwidth(1e9)}, {3, Bandwidth(1e8)}}};
  const double bottleneck_s = SolvePipeDream(states, options).bottleneck_s;
  const Stops stops = StopEverywhere(
      [&](const StopSign& stop) { return SolvePipeDream(states, options, stop); },
      [&](const PipeDreamPartition& found) { EXPECT_EQ(found.bottleneck_s, bottleneck_s); });
  EXPECT_GT(stops.without_answer, 10);
  EXPECT_EQ(stops.with_answer, 0);
}

PiperProblem DrawPiperProblem(Random& random, int nodes) {
  PiperProblem problem;
  problem.name = "drawn";
  const std::vector<DagEdge> edges = DrawEdges(random, nodes);
  problem.dag = MakeDag(NumberedNames(nodes), edges, problem.name);
  for (const DagEdge& edge : edges) problem.edge_bytes[edge] = 50;
  for (int node = 0; node < nodes; ++node) {
    PiperMode mode;
    mode.time_s = static_cast<double>(random.Integer(1, 100));
    mode.parameters_bytes = static_cast<double>(random.Integer(0, 100));
    mode.bytes_per_micro_batch = static_cast<double>(random.Integer(1, 20));
    problem.nodes.emplace_back().modes[1] = {mode};
    mode.time_s *= 1.5;
    mode.bytes_per_micro_batch = 0.5;
    problem.nodes.back().modes[1].push_back(mode);
  }
  return problem;
}

TEST(AnytimeTest, PiperNarrowsDownFromBothSides) {
  constexpr int kProblems = 40;
  int feasible = 0;
  int with_answer = 0;
  for (int seed = 1; seed <= kProblems; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const PiperProblem problem = DrawPiperProblem(random, 5);
    const PiperOptions options{.devices = 4,
                               .memory_bytes = static_cast<double>(random.Integer(20, 150)),
                               .bandwidth_bytes_per_s = 50,
                               .micro_batches = 4};
    const auto whole = SolvePiper(problem, options);
    if (!whole) continue;
    ++feasible;
    EXPECT_EQ(whole->bound_s, whole->bottleneck_s);
    double last = std::numeric_limits<double>::infinity();
    const Stops stops =
        StopEverywhere([&](const StopSign& stop) { return *SolvePiper(problem, options, stop); },
                       [&](const PiperPartition& found) {
                         EXPECT_TRUE(CheckPiper(problem, options, found).errors.empty());
                         EXPECT_LE(found.bound_s, whole->bottleneck_s * (1 + kRounding));
                         EXPECT_LE(found.bottleneck_s, last);
                         last = found.bottleneck_s;
                       });
    EXPECT_EQ(last, whole->bottleneck_s);
    EXPECT_GT(stops.without_answer, 0);
    with_answer += stops.with_answer;
  }
  EXPECT_GT(feasible, kProblems / 2);
  EXPECT_GT(with_answer, feasible);
}

// Node 0 feeds 1 and 2. With 40 bytes, node 0 may have three micro-batches in flight and one of the
// others two, so they fit on three devices in only one order.
TEST(AnytimeTest, PipersFirstPartitionKeepsToTheMemory) {
  for (const int heavy : {1, 2}) {
    PiperProblem problem;
    problem.name = "fork";
    const std::vector<DagEdge> edges = {{0, 1}, {0, 2}};
    problem.dag = MakeDag(NumberedNames(3), edges, problem.name);
    for (const DagEdge& edge : edges) problem.edge_bytes[edge] = 0;
    for (int node = 0; node < 3; ++node) {
      const double bytes = node == heavy ? 30 : node == 0 ? 10 : 15;
      PiperMode mode;
      mode.time_s = 1;
      mode.bytes_per_micro_batch = bytes;
      problem.nodes.emplace_back().modes[1] = {mode};
    }
    const PiperOptions options{.devices = 3,
                               .memory_bytes = 40,
                               .bandwidth_bytes_per_s = 1,
                               .micro_batches = 3,
                               .data_parallel = false};
    const Stops stops =
        StopEverywhere([&](const StopSign& stop) { return *SolvePiper(problem, options, stop); },
                       [&](const PiperPartition& found) {
                         EXPECT_TRUE(CheckPiper(problem, options, found).errors.empty());
                         EXPECT_EQ(found.stages.size(), 3u);
                       });
    EXPECT_GT(stops.with_answer, 0);
  }
}

TEST(AnytimeTest, DapplesPlansAreSoundFromTheFirstOn) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const TimedGraph graph = DrawTimedGraph(random, 6);
    const AntichainStates states = FindAntichainStates(graph);
    const DappleOptions options{.machines = 2, .devices_per_machine = 2, .micro_batches = 8};
    const double least_s = LeastDappleStepSeconds(states, options);
    double last = std::numeric_limits<double>::infinity();
    const Stops stops =
        StopEverywhere([&](const StopSign& stop) { return *SolveDapple(states, options, stop); },
                       [&](const DapplePlan& found) {
                         const PartitionCheck check = CheckDapple(graph, options, found);
                         EXPECT_TRUE(check.errors.empty());
                         EXPECT_GE(check.objective, least_s * (1 - kRounding));
                         last = found.step_s;
                       });
    EXPECT_EQ(last, SolveDapple(states, options)->step_s);
    EXPECT_GT(stops.without_answer, 0);
    EXPECT_GT(stops.with_answer, 0);
  }
}

TEST(AnytimeTest, TwoBufferReturnsTheBestOfTheDepthsThatItReached) {
  Random random(3);
  const TimedGraph graph = DrawTimedGraph(random, 8);
  const AntichainStates states = FindAntichainStates(graph);
  const TwoBufferOptions options{.devices = 4, .bandwidth = Bandwidth(1e8), .batch = 16};
  double last = 0;
  const Stops stops =
      StopEverywhere([&](const StopSign& stop) { return *SolveTwoBuffer(states, options, stop); },
                     [&](const TwoBufferPlan& found) {
                       EXPECT_TRUE(CheckTwoBuffer(graph, options, found).errors.empty());
                       EXPECT_GE(found.rate_per_s, last);
                       last = found.rate_per_s;
                     });
  EXPECT_EQ(last, SolveTwoBuffer(states, options)->rate_per_s);
  EXPECT_GT(stops.without_answer, 0);
  EXPECT_GT(stops.with_answer, 0);
}

TEST(AnytimeTest, HetPipesWorkersAreSoundFromTheFirstOn) {
  Random random(4);
  const TimedGraph graph = DrawTimedGraph(random, 7);
  const AntichainStates states = FindAntichainStates(graph);
  HetPipeOptions options;
  for (const double speed : {1.0, 0.5}) options.servers.push_back({2, speed, Bytes(100'000'000)});
  options.inside = Bandwidth(1e10);
  options.between = Bandwidth(1e9);
  const std::vector<int> gpus = {0, 0, 1};
  double last = 0;
  const Stops stops = StopEverywhere(
      [&](const StopSign& stop) { return *SolveVirtualWorker(states, options, gpus, stop); },
      [&](const VirtualWorker& found) {
        EXPECT_TRUE(CheckVirtualWorker(graph, options, gpus, found).errors.empty());
        last = found.rate_per_s;
      });
  EXPECT_EQ(last, SolveVirtualWorker(states, options, gpus)->rate_per_s);
  EXPECT_GT(stops.without_answer, 0);
  EXPECT_GT(stops.with_answer, 0);
}

// Without the stop it would go on for minutes.
TEST(AnytimeTest, AnotherThreadMayStopPipeDream) {
  const AntichainStates states = FindAntichainStates(Chain(1000));
  const PipeDreamOptions options{.levels = {{64, Bandwidth(1e9)}, {64, Bandwidth(1e9)}}};
  std::atomic<bool> flag = false;
  const StopSign stop(Budget{.stop = &flag});
  std::jthread other([&] { flag = true; });
  EXPECT_THROW(SolvePipeDream(states, options, stop), Stopped);
}

}  // namespace
}  // namespace stagecraft
