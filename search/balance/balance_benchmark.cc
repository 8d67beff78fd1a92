// Measures the balancers on drawn loads, and how far diffusion is from the optimum.

#include <benchmark/benchmark.h>

#include <vector>

#include "costmodel/random.h"
#include "costmodel/statistics.h"
#include "search/balance/balance_problem.h"
#include "search/balance/diffusion.h"
#include "search/balance/drawn_balance.h"
#include "search/balance/layer_partition.h"
#include "search/balance/repacking.h"

namespace stagecraft {
namespace {

BalanceProblem Large(LoadKind kind, int stages, bool has_stragglers) {
  Random random(1);
  BalanceProblem problem;
  problem.loads = DrawLoads(kind, 10 * stages, random);
  problem.speeds.assign(stages, 1.0);
  if (has_stragglers) SlowSome(problem, random);
  return problem;
}

// The optimum over a uniform division, as the ratio to a baseline.
void BM_Partition(benchmark::State& state, LoadKind kind, bool has_stragglers) {
  const auto stages = static_cast<int>(state.range(0));
  const BalanceProblem problem = Large(kind, stages, has_stragglers);
  const Division uniform = UniformDivision(problem.layers(), stages);
  Division division;
  for (auto _ : state) division = *PartitionLayers(problem, uniform);
  state.SetItemsProcessed(state.iterations() * problem.layers());
  state.counters["over_uniform"] = SlowestLoad(problem, division) / SlowestLoad(problem, uniform);
}
BENCHMARK_CAPTURE(BM_Partition, random, LoadKind::kRandom, false)
    ->Arg(8)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Partition, frozen, LoadKind::kFrozen, false)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Partition, pruned, LoadKind::kPruned, false)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Partition, stragglers, LoadKind::kRandom, true)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

void BM_Diffusion(benchmark::State& state, LoadKind kind, bool has_stragglers) {
  const auto stages = static_cast<int>(state.range(0));
  const BalanceProblem problem = Large(kind, stages, has_stragglers);
  const Division uniform = UniformDivision(problem.layers(), stages);
  DiffusionResult result;
  for (auto _ : state) result = Diffuse(problem, uniform);
  state.SetItemsProcessed(state.iterations() * stages);
  state.counters["rounds"] = static_cast<double>(result.rounds);
  state.counters["over_optimum"] =
      SlowestLoad(problem, result.division) / SlowestLoad(problem, *PartitionLayers(problem));
}
BENCHMARK_CAPTURE(BM_Diffusion, random, LoadKind::kRandom, false)
    ->Arg(8)
    ->Arg(24)
    ->Arg(64)
    ->Arg(65)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Diffusion, frozen, LoadKind::kFrozen, false)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Diffusion, stragglers, LoadKind::kRandom, true)
    ->Arg(8)
    ->Arg(64)
    ->Arg(65)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

void BM_Repack(benchmark::State& state) {
  const auto stages = static_cast<int>(state.range(0));
  const BalanceProblem problem = Large(LoadKind::kFrozen, stages, false);
  const Division uniform = UniformDivision(problem.layers(), stages);
  double kept = 0;
  for (auto _ : state) kept = static_cast<double>(Repack(problem, uniform, 0.01)->kept.size());
  state.counters["kept"] = kept;
}
BENCHMARK(BM_Repack)->Arg(8)->Arg(1000)->Unit(benchmark::kMillisecond);

// Counts how far 1,000 drawn instances are from the optimum after diffusion.
void BM_DiffusionRatio(benchmark::State& state) {
  std::vector<double> ratios;
  for (auto _ : state) {
    ratios.clear();
    for (int seed = 0; seed < 1000; ++seed) {
      const BalanceProblem problem = DrawBalanceProblem(seed);
      const Division uniform = UniformDivision(problem.layers(), problem.stages());
      ratios.push_back(SlowestLoad(problem, Diffuse(problem, uniform).division) /
                       SlowestLoad(problem, *PartitionLayers(problem)));
    }
  }
  state.SetItemsProcessed(state.iterations() * 1000);
  state.counters["median"] = NearestRankQuantile(ratios, 0.5);
  state.counters["p90"] = NearestRankQuantile(ratios, 0.9);
  state.counters["worst"] = NearestRankQuantile(ratios, 1);
}
BENCHMARK(BM_DiffusionRatio)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
