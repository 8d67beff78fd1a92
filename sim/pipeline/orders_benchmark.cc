// Rates of making orders, without timing them.
#include <benchmark/benchmark.h>

#include "sim/pipeline/zero_bubble.h"

namespace stagecraft {
namespace {

void ReportPasses(benchmark::State& state, int64_t passes_per_micro_batch) {
  const int64_t passes = state.range(0) * state.range(1) * passes_per_micro_batch;
  state.counters["passes"] = static_cast<double>(passes);
  state.counters["passes/s"] = benchmark::Counter(static_cast<double>(passes * state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

// The baseline in the same process.
void BM_OneForwardOneBackward(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0));
  for (auto _ : state) {
    for (int s = 0; s < stages; ++s) {
      benchmark::DoNotOptimize(
          OneForwardOneBackwardOrder(stages - 1 - s, static_cast<int>(state.range(1))));
    }
  }
  ReportPasses(state, 2);
}

void BM_ZeroBubbleH2(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0));
  for (auto _ : state) {
    for (int s = 0; s < stages; ++s) {
      benchmark::DoNotOptimize(ZeroBubbleH2Order(s, stages, static_cast<int>(state.range(1))));
    }
  }
  ReportPasses(state, 3);
}

void BM_VHalf(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        VHalfOrders(static_cast<int>(state.range(0)), static_cast<int>(state.range(1))));
  }
  ReportPasses(state, 6);
}

// Stages of the 14.6B network of the Zero Bubble paper.
constexpr PassTimes kTimes = {11347_us, 11248_us, 8132_us};
constexpr PassTimes kHalfTimes = {5674_us, 5624_us, 4066_us};
constexpr Duration kTransfer = 377_us;

// limit: micro-batches that a stage can hold, in percent of the stages.
void BM_AutomaticZeroBubble(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0));
  const PipelineCosts costs = UniformCosts(stages, 1, kTimes, kTransfer);
  const std::vector<PassMemory> memory(costs.times.size(), {2, 1});
  const std::vector<int64_t> limits(costs.times.size(), 2 * stages * state.range(2) / 100);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        AutomaticZeroBubbleOrders(costs, static_cast<int>(state.range(1)), memory, limits));
  }
  ReportPasses(state, 3);
}

void BM_ZeroBubbleV(benchmark::State& state) {
  const PipelineCosts costs =
      UniformCosts(static_cast<int>(state.range(0)), 2, kHalfTimes, kTransfer);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ZeroBubbleVOrders(costs, static_cast<int>(state.range(1)), {2, 1}));
  }
  ReportPasses(state, 6);
}

#define LARGE ArgNames({"stages", "micro_batches"})->Args({64, 4096})->Unit(benchmark::kMillisecond)
BENCHMARK(BM_OneForwardOneBackward)->LARGE;
BENCHMARK(BM_ZeroBubbleH2)->LARGE;
BENCHMARK(BM_VHalf)->LARGE;
BENCHMARK(BM_AutomaticZeroBubble)
    ->ArgNames({"stages", "micro_batches", "limit"})
    ->Args({32, 256, 100})
    ->Args({32, 256, 150})
    ->Args({32, 256, 300})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ZeroBubbleV)
    ->ArgNames({"stages", "micro_batches"})
    ->Args({32, 256})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
