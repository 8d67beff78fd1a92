// Compares exact partitioners with every partition of small drawn graphs, whose objectives the
// checks compute.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/dag.h"
#include "search/partition/downsets.h"
#include "search/partition/partition_check.h"
#include "search/partition/pipedream.h"
#include "search/partition/piper.h"
#include "search/partition/piper_problem.h"
#include "search/partition/random_graph.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

TimedGraph DrawTimedGraph(Random& random, int nodes) {
  TimedGraph graph;
  graph.name = "drawn";
  for (const std::string& name : NumberedNames(nodes)) {
    TimedNode node;
    node.name = name;
    node.forward = Duration::Nanoseconds(random.Integer(0, 1000));
    node.backward = Duration::Nanoseconds(random.Integer(0, 1000));
    node.activation = Bytes(random.Integer(0, 300));
    node.parameters = Bytes(random.Integer(0, 300));
    graph.nodes.push_back(node);
  }
  graph.dag = MakeDag(NumberedNames(nodes), DrawEdges(random, nodes), graph.name);
  return graph;
}

PipeDreamOptions DrawPipeDreamOptions(Random& random) {
  PipeDreamOptions options;
  const int64_t levels = random.Integer(1, 2);
  for (int64_t level = 0; level < levels; ++level) {
    const auto machines = static_cast<int>(random.Integer(1, levels == 1 ? 4 : 2));
    options.levels.push_back(
        {machines, Bandwidth(static_cast<double>(random.Integer(1, 9)) * 1e8)});
  }
  if (random.Uniform() < 0.3) options.rule = PipeDreamRule::kPaper;
  if (random.Uniform() < 0.5) options.activation_compression = 1.0;
  options.straight = random.Uniform() < 0.3;
  if (random.Uniform() < 0.4) {
    options.memory = Bytes(random.Integer(100, 3000));
  } else {
    options.use_fewer_machines = !options.straight && random.Uniform() < 0.5;
  }
  return options;
}

using StageLists = std::vector<std::vector<PipeDreamStage>>;

// EveryPartition enumerates every way to spread what lies between two states over all machines (or
// fewer, if that is allowed) of level `levels` - 1. `before` is -1 at the start.
class EveryPartition {
 public:
  EveryPartition(const AntichainStates& states, const PipeDreamOptions& options)
      : states_(states), options_(options) {}

  StageLists Of(size_t levels, int before, int end) const {
    StageLists all;
    std::vector<PipeDreamStage> stages;
    Extend(levels, before, end, options_.levels[levels - 1].machines, stages, all);
    return all;
  }

 private:
  void Extend(size_t levels, int before, int end, int machines, std::vector<PipeDreamStage>& stages,
              StageLists& all) const {
    if (before == end) {
      if (machines == 0 || options_.use_fewer_machines) all.push_back(stages);
      return;
    }
    for (int last = before + 1; last <= end; ++last) {
      const NodeSet& earlier = states_.states[last].earlier;
      if (before >= 0 && !earlier.test(before)) continue;
      if (last != end && !states_.states[end].earlier.test(last)) continue;
      StageLists insides = {{}};
      if (levels > 1) insides = Of(levels - 1, before, last);
      for (std::vector<PipeDreamStage>& inside : insides) {
        for (int replicas = 1; replicas <= machines; ++replicas) {
          NodeSet nodes = states_.states[last].done;
          if (before >= 0) nodes -= states_.states[before].done;
          stages.push_back({nodes, replicas, inside});
          Extend(levels, last, end, machines - replicas, stages, all);
          stages.pop_back();
        }
      }
    }
  }

  const AntichainStates& states_;
  const PipeDreamOptions& options_;
};

TEST(PartitionOracleTest, NoPartitionIsFasterThanPipeDreams) {
  Random random(3);
  int feasible = 0;
  for (int round = 0; round < 600; ++round) {
    const TimedGraph graph = DrawTimedGraph(random, static_cast<int>(random.Integer(1, 5)));
    const PipeDreamOptions options = DrawPipeDreamOptions(random);
    const AntichainStates states = FindAntichainStates(graph);
    double best = kNever;
    size_t fewest = 0;
    for (const std::vector<PipeDreamStage>& stages :
         EveryPartition(states, options).Of(options.levels.size(), -1, states.size() - 1)) {
      const PartitionCheck check = CheckPipeDream(graph, options, {0, stages});
      if (!check.errors.empty() || check.objective > best) continue;
      if (check.objective < best || stages.size() < fewest) fewest = stages.size();
      best = check.objective;
    }
    const PipeDreamPartition found = SolvePipeDream(states, options);
    if (best == kNever) {
      EXPECT_EQ(found.bottleneck_s, kNever) << "round " << round;
      continue;
    }
    ++feasible;
    EXPECT_NEAR(found.bottleneck_s, best, best * 1e-12) << "round " << round;
    EXPECT_TRUE(CheckPipeDream(graph, options, found).errors.empty()) << "round " << round;
    EXPECT_LE(found.stages.size(), fewest) << "round " << round;
  }
  EXPECT_GT(feasible, 300);
}

PiperProblem DrawPiperProblem(Random& random, int nodes) {
  PiperProblem problem;
  problem.name = "drawn";
  const std::vector<DagEdge> edges = DrawEdges(random, nodes);
  problem.dag = MakeDag(NumberedNames(nodes), edges, problem.name);
  for (const DagEdge& edge : edges) {
    problem.edge_bytes[edge] = static_cast<double>(random.Integer(0, 50));
  }
  for (int node = 0; node < nodes; ++node) {
    PiperNode& drawn = problem.nodes.emplace_back();
    for (const int tensor : {1, 2}) {
      PiperMode mode;
      mode.time_s = static_cast<double>(random.Integer(0, 100)) / tensor;
      mode.parameters_bytes = static_cast<double>(random.Integer(0, 100));
      mode.bytes_per_micro_batch = static_cast<double>(random.Integer(1, 20));
      mode.fixed_bytes = static_cast<double>(random.Integer(0, 20));
      if (node > 0) mode.input_sync_bytes[0] = static_cast<double>(random.Integer(0, 9));
      drawn.modes[tensor] = {mode};
      mode.time_s *= 1.5;
      mode.bytes_per_micro_batch = 0.5;
      drawn.modes[tensor].push_back(mode);
    }
  }
  return problem;
}

// EveryPiperPartition enumerates every partition with every choice of modes, from the last stage to
// the first.
class EveryPiperPartition {
 public:
  EveryPiperPartition(const PiperProblem& problem, const PiperOptions& options)
      : problem_(problem), options_(options), downsets_(FindDownsets(problem.dag, "drawn")) {}

  double Best() {
    Extend(static_cast<int>(downsets_.size()) - 1, options_.devices);
    return best_;
  }

 private:
  void Extend(int after, int devices) {
    if (after == 0) {
      PiperPartition partition;
      partition.stages.assign(stages_.rbegin(), stages_.rend());
      const PartitionCheck check = CheckPiper(problem_, options_, partition);
      if (check.errors.empty()) best_ = std::min(best_, check.objective);
      return;
    }
    for (int done = 0; done < after; ++done) {
      if (!downsets_[done].is_subset_of(downsets_[after])) continue;
      for (const int tensor : {1, 2}) {
        for (int replicas = 1; replicas * tensor <= devices; ++replicas) {
          ExtendBy(downsets_[after] - downsets_[done], tensor, replicas, done, devices);
        }
      }
    }
  }

  void ExtendBy(const NodeSet& nodes, int tensor, int replicas, int done, int devices) {
    const size_t count = nodes.count();
    for (int modes = 0; modes < (options_.recompute ? 1 << count : 1); ++modes) {
      PiperStage stage{nodes, replicas, tensor, {}, 0, 0};
      for (size_t n = 0; n < count; ++n) stage.modes.push_back(modes >> n & 1);
      stages_.push_back(stage);
      Extend(done, devices - replicas * tensor);
      stages_.pop_back();
    }
  }

  const PiperProblem& problem_;
  const PiperOptions& options_;
  const std::vector<NodeSet> downsets_;
  std::vector<PiperStage> stages_;  // last first
  double best_ = kNever;
};

// With one mode per operator nothing is heuristic; with two, Piper's greedy choice is never better
// than the best and seldom worse.
TEST(PartitionOracleTest, NoPartitionIsFasterThanPipers) {
  Random random(4);
  int equal = 0;
  int feasible = 0;
  for (int round = 0; round < 300; ++round) {
    const PiperProblem problem = DrawPiperProblem(random, static_cast<int>(random.Integer(1, 4)));
    PiperOptions options;
    options.devices = static_cast<int>(random.Integer(1, 4));
    options.memory_bytes = static_cast<double>(random.Integer(20, 120));
    options.bandwidth_bytes_per_s = 1;
    options.micro_batches = 4;
    options.data_parallel = random.Uniform() < 0.8;
    options.tensor_parallel = random.Uniform() < 0.8;
    options.recompute = random.Uniform() < 0.5;
    const double best = EveryPiperPartition(problem, options).Best();
    const std::optional<PiperPartition> found = SolvePiper(problem, options);
    ASSERT_EQ(found.has_value(), best < kNever) << "round " << round;
    if (!found) continue;
    ++feasible;
    EXPECT_TRUE(CheckPiper(problem, options, *found).errors.empty()) << "round " << round;
    EXPECT_GE(found->bottleneck_s, best * (1 - 1e-12)) << "round " << round;
    const bool is_best = found->bottleneck_s <= best * (1 + 1e-12);
    if (!options.recompute) {
      EXPECT_TRUE(is_best) << "round " << round;
    }
    equal += is_best;
  }
  EXPECT_GT(feasible, 150);
  EXPECT_GE(equal, feasible * 9 / 10);
}

}  // namespace
}  // namespace stagecraft
