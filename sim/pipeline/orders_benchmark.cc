// Rates of making, checking, timing, writing and reading the pass orders of a whole pipeline: every
// schedule that has a name, for 64 stages and 4,096 micro-batches, with four chunks if it takes any
// number. "gpipe", which does nothing but count, is the baseline in the same process.
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
#include "sim/pipeline/list_scheduler.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/order_errors.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pytorch_csv.h"

namespace stagecraft {
namespace {

constexpr int kStages = 64;
constexpr int kChunks = 4;
constexpr int kMicroBatches = 4096;

// The stages of the 14.6B network of the Zero Bubble paper.
constexpr PassTimes kTimes = {11347_us, 11248_us, 8132_us};
constexpr Duration kTransfer = 377_us;
// Weight gradients hold half of what a forward holds.
constexpr PassMemory kMemory = {2, 1};

PassOrderInputs InputsOf(const ChunkMap& map) {
  return {UniformCosts(map.stages(), map.chunks(), kTimes, kTransfer),
          std::vector(static_cast<size_t>(map.stages()),
                      std::vector<PassMemory>(static_cast<size_t>(map.chunks()), kMemory))};
}

void ReportPasses(benchmark::State& state, const PassOrders& orders) {
  int64_t passes = 0;
  for (const PassOrder& of_stage : orders) passes += static_cast<int64_t>(of_stage.size());
  state.counters["passes"] = static_cast<double>(passes);
  state.counters["passes/s"] = benchmark::Counter(static_cast<double>(passes * state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

void Measure(benchmark::State& state, PipelineSchedule schedule,
             const PipelineScheduleOptions& options, const ChunkMap& map, int micro_batches) {
  const PassOrderInputs inputs = InputsOf(map);
  PassOrders orders;
  for (auto _ : state) {
    benchmark::DoNotOptimize(orders =
                                 MakePassOrders(schedule, options, map, micro_batches, &inputs));
  }
  ReportPasses(state, orders);
}

void BM_Orders(benchmark::State& state, PipelineSchedule schedule, int chunks) {
  Measure(state, schedule, {}, ChunkMap(PlacementOf(schedule), kStages, chunks), kMicroBatches);
}

// The most chunks that a schedule takes, but at most kChunks.
int MostChunks(PipelineSchedule schedule) {
  int chunks = kChunks;
  while (!FindChunkError(schedule, PlacementOf(schedule), kStages, chunks).empty()) --chunks;
  return chunks;
}

void RegisterAllNames() {
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    const std::string name = "BM_Orders/" + std::string(Name(schedule));
    benchmark::RegisterBenchmark(name.c_str(), BM_Orders, schedule, MostChunks(schedule))
        ->Unit(benchmark::kMillisecond);
  }
}

void BM_InterleavedGroups(benchmark::State& state) {
  PipelineScheduleOptions options;
  options.groups = MicroBatchGroups{100};
  Measure(state, PipelineSchedule::kInterleaved, options, ChunkMap::Looped(kStages, kChunks),
          kMicroBatches);
}
void BM_ChimeraTwoForwards(benchmark::State& state) {
  PipelineScheduleOptions options;
  options.slots = ChimeraSlots::kTwoForwards;
  Measure(state, PipelineSchedule::kChimera, options,
          ChunkMap(Placement::kBidirectional, kStages, kChunks), kMicroBatches);
}
// Also determines the weight versions of every pass.
void BM_PipeDream(benchmark::State& state) {
  const std::vector<int> replicas(kStages, 1);
  PassOrders orders(kStages);
  for (auto _ : state) {
    for (int stage = 0; stage < kStages; ++stage) {
      benchmark::DoNotOptimize(
          orders[stage] =
              PipeDreamOrder(replicas, stage, 0, kMicroBatches, WeightSync::kStashing).passes);
    }
  }
  ReportPasses(state, orders);
}
BENCHMARK(BM_PipeDream)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_InterleavedGroups)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ChimeraTwoForwards)->Unit(benchmark::kMillisecond);

// Activation limits are in percent of what 1F1B's first stage holds.
void BM_AutomaticZeroBubble(benchmark::State& state) {
  PipelineScheduleOptions options;
  options.activation_limit = static_cast<double>(state.range(2)) / 100;
  Measure(state, PipelineSchedule::kZeroBubbleAuto, options,
          ChunkMap::Looped(static_cast<int>(state.range(0)), 1), static_cast<int>(state.range(1)));
}
BENCHMARK(BM_AutomaticZeroBubble)
    ->ArgNames({"stages", "micro_batches", "limit"})
    ->ArgsProduct({{32}, {256}, {100, 150, 300}})
    ->ArgsProduct({{64}, {4096}, {150, 200}})
    ->Unit(benchmark::kMillisecond);

// The list scheduler with the memory of 1F1B, or without a limit.
void BM_ListScheduled(benchmark::State& state) {
  PipelineScheduleOptions options;
  options.activation_limit = static_cast<double>(state.range(1));
  Measure(state, PipelineSchedule::kList, options,
          ChunkMap::Looped(kStages, static_cast<int>(state.range(0))), kMicroBatches);
}
BENCHMARK(BM_ListScheduled)
    ->ArgNames({"chunks", "limited"})
    ->ArgsProduct({{1, kChunks}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// Compared with 1F1B, or interleaved 1F1B, at its own memory: pipelines whose passes differ by up
// to a factor of two, with transfers of up to three tenths of the shortest pass.
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
      PassOrders orders;
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
      const PassOrders listed = ListScheduledOrders(map, m, costs, options);
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

// The pass orders that the other benchmarks use.
PassOrders Interleaved() {
  return MakePassOrders(PipelineSchedule::kInterleaved, {}, ChunkMap::Looped(kStages, kChunks),
                        kMicroBatches, nullptr);
}
void BM_FindOrderError(benchmark::State& state) {
  const PassOrders orders = Interleaved();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        FindOrderError(ChunkMap::Looped(kStages, kChunks), orders, kMicroBatches, false));
  }
  ReportPasses(state, orders);
}
void BM_TimeOrders(benchmark::State& state) {
  const PassOrders orders = Interleaved();
  const PipelineCosts costs = UniformCosts(kStages, kChunks, kTimes, kTransfer);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        TimeOrders(ChunkMap::Looped(kStages, kChunks), orders, kMicroBatches, costs).Makespan());
  }
  ReportPasses(state, orders);
}
void BM_WritePytorchCsv(benchmark::State& state) {
  const PassOrders orders = Interleaved();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        WritePytorchCsv(ChunkMap::Looped(kStages, kChunks), orders, kMicroBatches));
  }
  ReportPasses(state, orders);
}
void BM_ReadPytorchCsv(benchmark::State& state) {
  const PassOrders orders = Interleaved();
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

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  stagecraft::RegisterAllNames();
  benchmark::RunSpecifiedBenchmarks();
}
