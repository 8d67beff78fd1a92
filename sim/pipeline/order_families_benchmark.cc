// Rates of making the orders of a whole pipeline: 64 stages of up to four chunks, 4096
// micro-batches. "gpipe", which only counts, is the baseline in the same process.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/pipeline/asynchronous.h"
#include "sim/pipeline/chimera.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/dual_pipe.h"
#include "sim/pipeline/list_scheduler.h"
#include "sim/pipeline/order.h"
#include "sim/pipeline/order_errors.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pytorch_csv.h"

namespace stagecraft {
namespace {

constexpr int kStages = 64;
constexpr int kChunks = 4;
constexpr int kMicroBatches = 4096;

void ReportPasses(benchmark::State& state, const PipelineOrders& orders) {
  int64_t passes = 0;
  for (const PassOrder& order : orders) passes += static_cast<int64_t>(order.size());
  state.counters["passes"] = static_cast<double>(passes);
  state.counters["passes/s"] =
      benchmark::Counter(static_cast<double>(passes) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

template <typename Make>
void Measure(benchmark::State& state, const Make& make) {
  PipelineOrders orders;
  for (auto _ : state) benchmark::DoNotOptimize(orders = make());
  ReportPasses(state, orders);
}

// One order for each stage.
template <typename Make>
PipelineOrders PerStage(const Make& make) {
  PipelineOrders orders;
  for (int stage = 0; stage < kStages; ++stage) orders.push_back(make(stage));
  return orders;
}

PipelineOrders Interleaved() {
  return PerStage(
      [](int stage) { return InterleavedOrder(stage, kStages, kChunks, kMicroBatches); });
}

PipelineCosts Costs(int chunks) {
  return UniformCosts(kStages, chunks, {10_ms, 11_ms, 9_ms}, 1_ms);
}

// Room for two micro-batches of each stage in flight.
ListScheduling Limited(int chunks) {
  const std::vector<PassMemory> of_stage(static_cast<size_t>(chunks), PassMemory{2, 1});
  return {true, std::vector(size_t{kStages}, of_stage),
          std::vector<int64_t>(size_t{kStages}, int64_t{2} * kStages * chunks)};
}

void BM_Gpipe(benchmark::State& state) {
  Measure(state, [] { return PerStage([](int) { return GpipeOrder(kMicroBatches); }); });
}
void BM_OneForwardOneBackward(benchmark::State& state) {
  Measure(state, [] {
    return PerStage([](int stage) {
      return OneForwardOneBackwardOrder(
          DappleWarmup(stage, kStages, kMicroBatches, WarmupPolicy::kB), kMicroBatches);
    });
  });
}
void BM_Interleaved(benchmark::State& state) { Measure(state, Interleaved); }
void BM_InterleavedGroups(benchmark::State& state) {
  Measure(state, [] {
    return PerStage([](int stage) {
      return InterleavedOrder(stage, kStages, kChunks, kMicroBatches, MicroBatchGroups{100});
    });
  });
}
void BM_BreadthFirst(benchmark::State& state) {
  Measure(state,
          [] { return PerStage([](int) { return BreadthFirstOrder(kChunks, kMicroBatches); }); });
}
void BM_DualPipe(benchmark::State& state) {
  Measure(state, [] { return DualPipeOrders(kStages, kMicroBatches); });
}
void BM_DualPipeV(benchmark::State& state) {
  Measure(state, [] { return DualPipeVOrders(kStages, kMicroBatches); });
}
void BM_Chimera(benchmark::State& state) {
  Measure(state, [] { return ChimeraOrders(kStages, 2, kMicroBatches); });
}
void BM_ChimeraTwoForwards(benchmark::State& state) {
  Measure(state,
          [] { return ChimeraOrders(kStages, 2, kMicroBatches, ChimeraSlots::kTwoForwards); });
}
void BM_PipeDream(benchmark::State& state) {
  const std::vector<int> replicas(kStages, 1);
  Measure(state, [&] {
    return PerStage([&](int stage) {
      return PipeDreamOrder(replicas, stage, 0, kMicroBatches, WeightSync::kStashing).passes;
    });
  });
}
BENCHMARK(BM_Gpipe)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_OneForwardOneBackward)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Interleaved)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_InterleavedGroups)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BreadthFirst)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DualPipe)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DualPipeV)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Chimera)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ChimeraTwoForwards)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PipeDream)->Unit(benchmark::kMillisecond);

void BM_ListScheduled(benchmark::State& state) {
  const int chunks = static_cast<int>(state.range(0));
  const PipelineCosts costs = Costs(chunks);
  const ListScheduling options = state.range(1) != 0 ? Limited(chunks) : ListScheduling{};
  Measure(state, [&] {
    return ListScheduledOrders(ChunkMap::Looped(kStages, chunks), kMicroBatches, costs, options);
  });
}
BENCHMARK(BM_ListScheduled)
    ->ArgNames({"chunks", "limited"})
    ->ArgsProduct({{1, kChunks}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// Against (interleaved) 1F1B at its own memory: pipelines whose passes differ by up to a
// factor of two, with transfers of up to three tenths of the shortest.
void BM_ListScheduledSlowdown(benchmark::State& state) {
  const bool interleaves = state.range(0) != 0;
  constexpr int kTrials = 1000;
  double sum = 0;
  double worst = 0;
  for (auto _ : state) {
    for (int trial = 0; trial < kTrials; ++trial) {
      Random random = Random(7).Child("slowdown", trial);
      const int p = static_cast<int>(random.Integer(2, 12));
      const int v = interleaves ? static_cast<int>(random.Integer(2, 4)) : 1;
      const int m = p * static_cast<int>(random.Integer(2, 8));
      PipelineCosts costs = UniformCosts(p, v, PassTimes{}, Duration());
      ListScheduling options;
      PipelineOrders orders;
      for (int stage = 0; stage < p; ++stage) {
        for (PassTimes& times : costs.times[stage]) {
          const Duration time = Duration::Nanoseconds(random.Integer(1000, 2000));
          times = {time, time, time};
        }
        costs.transfers[stage] = Duration::Nanoseconds(random.Integer(0, 300));
        orders.push_back(interleaves ? InterleavedOrder(stage, p, v, m)
                                     : OneForwardOneBackwardOrder(p - 1 - stage, m));
        options.memory.emplace_back(v, PassMemory{1, 0});
        options.limits.push_back(PeakInFlight(orders.back()));
      }
      const ChunkMap map = ChunkMap::Looped(p, v);
      const PipelineOrders listed = ListScheduledOrders(map, m, costs, options);
      const double ratio = TimeOrders(map, listed, m, costs).Makespan().seconds() /
                           TimeOrders(map, orders, m, costs).Makespan().seconds();
      sum += ratio / kTrials;
      worst = std::max(worst, ratio);
    }
  }
  state.counters["mean"] = sum / static_cast<double>(state.iterations());
  state.counters["worst"] = worst;
}
BENCHMARK(BM_ListScheduledSlowdown)->ArgName("interleaved")->Arg(0)->Arg(1)->Iterations(1);

// What the rest does with the interleaved orders.
void BM_FindOrderError(benchmark::State& state) {
  const PipelineOrders orders = Interleaved();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        FindOrderError(ChunkMap::Looped(kStages, kChunks), orders, kMicroBatches, false));
  }
  ReportPasses(state, orders);
}
void BM_TimeOrders(benchmark::State& state) {
  const PipelineOrders orders = Interleaved();
  const PipelineCosts costs = Costs(kChunks);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        TimeOrders(ChunkMap::Looped(kStages, kChunks), orders, kMicroBatches, costs).Makespan());
  }
  ReportPasses(state, orders);
}
void BM_WritePytorchCsv(benchmark::State& state) {
  const PipelineOrders orders = Interleaved();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        WritePytorchCsv(ChunkMap::Looped(kStages, kChunks), orders, kMicroBatches));
  }
  ReportPasses(state, orders);
}
void BM_ReadPytorchCsv(benchmark::State& state) {
  const PipelineOrders orders = Interleaved();
  const std::string text =
      WritePytorchCsv(ChunkMap::Looped(kStages, kChunks), orders, kMicroBatches);
  for (auto _ : state) benchmark::DoNotOptimize(ReadPytorchCsv(text, "s.csv").micro_batches);
  ReportPasses(state, orders);
}
BENCHMARK(BM_FindOrderError)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_TimeOrders)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WritePytorchCsv)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadPytorchCsv)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft

BENCHMARK_MAIN();
