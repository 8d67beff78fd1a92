// Measures how the time of a simulation grows with devices, layers and micro-batches, and that of a
// search with the plans that it has to rule out. docs/cost_curves_svg.py draws the output of
// --benchmark_format=json; the curves are named by the function, their points by the counter "at".
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "costmodel/check.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/memo_model.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "search/space_views.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/make_plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/large_job.h"

namespace stagecraft {
namespace {

constexpr int kDevicesOfANode = 8;

// A training step of 405 billion parameters on nodes of 8 devices: its plan and its simulation.
void BM_Devices(benchmark::State& state) {
  const UnitModel model;
  for (auto _ : state) {
    const LargeJob job = MakeLargeJob(static_cast<int>(state.range(0)), 16);
    benchmark::DoNotOptimize(SimulateStep(job.plan, job.workload, job.cluster, model));
  }
  state.counters["at"] = static_cast<double>(state.range(0)) * kDevicesOfANode;
}
BENCHMARK(BM_Devices)->RangeMultiplier(4)->Range(16, 65536)->Unit(benchmark::kMillisecond);

// A step of 16 micro-batches in a pipeline of 8 stages, by the number of blocks of the network.
void BM_Layers(benchmark::State& state) {
  const UnitModel model;
  DecoderConfig config = SizedDecoder("llama", {.layers = static_cast<int>(state.range(0)),
                                                .hidden = 1024,
                                                .heads = 8,
                                                .kv_heads = 8,
                                                .ffn = 4096,
                                                .vocab = 32768,
                                                .max_sequence = 1024});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "decoder");
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  PlanDegrees degrees;
  degrees.pipeline = 8;
  degrees.sequence = 1024;
  degrees.global_batch = 16;
  for (auto _ : state) {
    const Plan plan = MakePlan(degrees, workload, cluster);
    benchmark::DoNotOptimize(SimulateStep(plan, workload, cluster, model));
  }
  state.counters["at"] = static_cast<double>(state.range(0));
}
BENCHMARK(BM_Layers)->RangeMultiplier(2)->Range(8, 4096)->Unit(benchmark::kMillisecond);

// A step of 405 billion parameters on 16 nodes, by the number of micro-batches.
void BM_MicroBatches(benchmark::State& state) {
  const UnitModel model;
  for (auto _ : state) {
    const LargeJob job = MakeLargeJob(16, state.range(0));
    benchmark::DoNotOptimize(SimulateStep(job.plan, job.workload, job.cluster, model));
  }
  state.counters["at"] = static_cast<double>(state.range(0));
}
BENCHMARK(BM_MicroBatches)->RangeMultiplier(4)->Range(16, 65536)->Unit(benchmark::kMillisecond);

// A proven search for Llama-3-70B on H100s, by the number of plans that it enumerates; each point
// has four times as many nodes as the one before.
void BM_Plans(benchmark::State& state) {
  const Workload workload = LoadWorkload("llama3-70b", AttentionBackend::kFlash);
  const int nodes = static_cast<int>(state.range(0));
  const Cluster cluster = ParseCluster("h100-sxm:" + std::to_string(nodes) + "x8");
  PlanDegrees given;
  given.global_batch = 1024;
  given.sequence = 8192;
  size_t plans = 0;
  int64_t evaluated = 0;
  for (auto _ : state) {
    const MemoModel memo(LearnedModel::Shipped());
    SearchProblem problem{.workload = workload, .cluster = cluster, .model = memo, .given = given};
    problem.choices.device_counts = DeviceCounts::kAny;
    const std::unique_ptr<PlanSpace> all = MakePlanSpace(problem);
    const std::unique_ptr<PlanSpace> space = RememberBounds(*all);
    const SearchResult result = SearchExhaustively(problem, *space, {});
    CHECK(result.is_optimal);
    plans = space->size();
    evaluated = result.evaluated;
  }
  state.counters["at"] = static_cast<double>(plans);
  state.counters["devices"] = cluster.device_count();
  state.counters["evaluated"] = static_cast<double>(evaluated);
}
BENCHMARK(BM_Plans)
    ->RangeMultiplier(4)
    ->Range(4, 1024)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
