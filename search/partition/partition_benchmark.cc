// Measures how long the partitioners take on the instances that are published with them. Needs
// $STAGECRAFT_SHARED; without it the benchmarks report an error.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "costmodel/shared_csv.h"
#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/chain_cuts.h"
#include "search/partition/max_load.h"
#include "search/partition/pipedream.h"
#include "search/partition/piper.h"
#include "search/partition/piper_problem.h"
#include "search/partition/placement_problem.h"
#include "search/partition/timed_graph.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

// Measures from the profile to the partition, as PipeDream's program times itself. The bandwidths
// are those of its published results.
void BM_PipeDream(benchmark::State& state, const std::string& network, int inner, int outer) {
  if (!HasSharedData()) {
    state.SkipWithError(kNoSharedData);
    return;
  }
  const std::string path = SharedDataPath("planning/pipedream/graphs/" + network + "/graph.txt");
  const ProfiledGraph profile = ReadProfiledGraph(path);
  const PipeDreamOptions options{.levels = {{inner, Bandwidth(8e9)}, {outer, Bandwidth(1.25e9)}},
                                 .activation_compression = 1.0};
  int states = 0;
  for (auto _ : state) {
    const AntichainStates antichains = FindAntichainStates(ToTimedGraph(profile, network));
    const PipeDreamPartition partition = SolvePipeDream(antichains, options);
    benchmark::DoNotOptimize(partition.bottleneck_s);
    states = antichains.size();
  }
  state.counters["states"] = states;
}
BENCHMARK_CAPTURE(BM_PipeDream, vgg16_on_4_4, "vgg16", 4, 4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, resnet50_on_4_4, "resnet50", 4, 4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, resnet50_on_8_2, "resnet50", 8, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, gnmt_large_on_4_4, "gnmt_large", 4, 4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PipeDream, gnmt_large_on_8_2, "gnmt_large", 8, 2)
    ->Unit(benchmark::kMillisecond);

void BM_Piper(benchmark::State& state, int devices, double memory_gib) {
  if (!HasSharedData()) {
    state.SkipWithError(kNoSharedData);
    return;
  }
  const std::string path = SharedDataPath("planning/piper/inputs/bert32a100.json");
  const PiperProblem problem = ParsePiperProblem(ReadFile(path), path);
  constexpr double kGib = 1024.0 * 1024 * 1024;
  const PiperOptions options{.devices = devices,
                             .memory_bytes = memory_gib * kGib,
                             .bandwidth_bytes_per_s = 25 * kGib,
                             .micro_batches = 1920};
  for (auto _ : state) benchmark::DoNotOptimize(SolvePiper(problem, options));
}
BENCHMARK_CAPTURE(BM_Piper, bert32_on_64, 64, 8.0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Piper, bert32_on_2048, 2048, 8.0)->Unit(benchmark::kMillisecond);

void BM_ContiguousMaxLoad(benchmark::State& state, const std::string& instance) {
  if (!HasSharedData()) {
    state.SkipWithError(kNoSharedData);
    return;
  }
  const std::string path =
      SharedDataPath("planning/dnn-partitioning/throughput/" + instance + ".json");
  const PlacementProblem problem = ParsePlacementProblem(ReadFile(path), path);
  for (auto _ : state) benchmark::DoNotOptimize(SolveContiguousMaxLoad(problem));
}
BENCHMARK_CAPTURE(BM_ContiguousMaxLoad, gnmt_training, "LayerGraphs/gnmt_training")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ContiguousMaxLoad, bert_l_3_inference, "OperatorGraphs/bert_l-3_inference")
    ->Unit(benchmark::kMillisecond);

void BM_AnnealedMaxLoad(benchmark::State& state) {
  if (!HasSharedData()) {
    state.SkipWithError(kNoSharedData);
    return;
  }
  const std::string path =
      SharedDataPath("planning/dnn-partitioning/throughput/LayerGraphs/gnmt_inference.json");
  const PlacementProblem problem = ParsePlacementProblem(ReadFile(path), path);
  const NodePlacement start = SpreadInOrder(problem);
  constexpr int64_t kSteps = 100'000;
  for (auto _ : state) benchmark::DoNotOptimize(ImproveMaxLoad(problem, start, kSteps, 1));
  state.counters["moves/s"] = benchmark::Counter(static_cast<double>(kSteps * state.iterations()),
                                                 benchmark::Counter::kIsRate);
}
BENCHMARK(BM_AnnealedMaxLoad)->Unit(benchmark::kMillisecond);

// Chains like pipeDejavu's: layers and cuts with times of 5 to 9.
void BM_ChainCuts(benchmark::State& state) {
  Random random(1);
  ChainProblem problem;
  problem.stages = static_cast<int>(state.range(1));
  problem.micro_batches = 3;
  for (int64_t layer = 0; layer < state.range(0); ++layer) {
    problem.layer_time.push_back(random.Integer(5, 9));
    std::vector<int64_t>& cuts = problem.cut_time.emplace_back();
    for (int cut = 0; cut < problem.stages; ++cut) cuts.push_back(random.Integer(5, 9));
  }
  for (auto _ : state) benchmark::DoNotOptimize(SolveChainCuts(problem));
}
BENCHMARK(BM_ChainCuts)
    ->ArgNames({"layers", "stages"})
    ->Args({48, 24})
    ->Args({64, 16})
    ->Args({128, 12})
    ->Args({128, 32})
    ->Args({128, 50})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft

BENCHMARK_MAIN();
