// Measures how long it takes to score plans from scratch and by what a change touches, on randomly
// drawn graphs.

#include <benchmark/benchmark.h>

#include <vector>

#include "costmodel/random.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"
#include "search/partition/stages/stage_moves.h"
#include "search/partition/stages/stage_state.h"

namespace stagecraft {
namespace {

// Returns a chain with shortcuts over two nodes, like those of residual networks, on 16 devices of
// two kinds.
StageProblem Residual(int nodes) {
  StageProblem problem = DrawStageProblem(Random(1), nodes, nodes);
  std::vector<DagEdge> edges;
  for (int node = 0; node + 1 < nodes; ++node) edges.push_back({node, node + 1});
  for (int node = 0; node + 3 < nodes; node += 3) edges.push_back({node, node + 3});
  problem.graph.dag = MakeDag(NumberedNames(nodes), edges, "residual");
  problem.kinds = {{8, 1}, {8, 2}};
  return problem;
}

void Report(benchmark::State& state, int64_t evaluations) {
  state.counters["evaluations"] =
      benchmark::Counter(static_cast<double>(evaluations), benchmark::Counter::kIsRate);
}

void BM_FromScratch(benchmark::State& state) {
  const StageProblem problem = Residual(static_cast<int>(state.range(0)));
  const StageCosts costs(problem);
  StageScorer scorer(costs);
  Random random(2);
  const StagePlan plan = DrawStagePlan(problem, 8, random);
  for (auto _ : state) benchmark::DoNotOptimize(scorer.Score(plan));
  Report(state, state.iterations());
}
BENCHMARK(BM_FromScratch)->Arg(32)->Arg(128)->Arg(512);

// Moves one operator to the next stage and back, and scores the plan each time; the moves are
// included in the time.
void BM_OneOperator(benchmark::State& state) {
  const StageProblem problem = Residual(static_cast<int>(state.range(0)));
  const StageCosts costs(problem);
  Random random(2);
  StageState plan(costs, DrawStagePlan(problem, 8, random));
  const StageMove move{StageMove::Kind::kPushOne, problem.graph.dag.order.front()};
  for (auto _ : state) {
    Apply(move, plan);
    benchmark::DoNotOptimize(plan.Score());
    plan.Undo();
    benchmark::DoNotOptimize(plan.Score());
  }
  Report(state, 2 * state.iterations());
}
BENCHMARK(BM_OneOperator)->Arg(32)->Arg(128)->Arg(512);

// A random walk with all kinds of moves, of which three in four are undone.
void BM_AllMoves(benchmark::State& state) {
  const StageProblem problem = Residual(static_cast<int>(state.range(0)));
  const StageCosts costs(problem);
  const std::vector<StageReplicas> choices = ReplicaChoices(problem);
  Random random(2);
  StageState plan(costs, DrawStagePlan(problem, 8, random));
  int64_t scored = 0;
  for (auto _ : state) {
    if (!Apply(DrawMove(plan, choices, random), plan)) continue;
    benchmark::DoNotOptimize(plan.Score());
    if (++scored % 4 == 0) {
      plan.Keep();
    } else {
      plan.Undo();
    }
  }
  Report(state, scored);
}
BENCHMARK(BM_AllMoves)->Arg(32)->Arg(128)->Arg(512);

}  // namespace
}  // namespace stagecraft

BENCHMARK_MAIN();
