// Rates of making a whole pipeline's orders, without timing them: every one by name for 64
// stages and 4,096 micro-batches, of four chunks where it takes any number. "gpipe", which
// only counts, is the baseline in the same process.
#include <benchmark/benchmark.h>

#include "sim/pipeline/make_orders.h"

namespace stagecraft {
namespace {

// Stages of the 14.6B network of the Zero Bubble paper.
constexpr PassTimes kTimes = {11347_us, 11248_us, 8132_us};
constexpr Duration kTransfer = 377_us;
// Weight gradients hold half of what a forward does.
constexpr PassMemory kMemory = {2, 1};

OrderInputs InputsOf(const ChunkMap& map) {
  return {UniformCosts(map.stages(), map.chunks(), kTimes, kTransfer),
          std::vector(static_cast<size_t>(map.stages()),
                      std::vector<PassMemory>(static_cast<size_t>(map.chunks()), kMemory))};
}

void Measure(benchmark::State& state, PipelineOrder order, const OrderOptions& options,
             const ChunkMap& map, int micro_batches) {
  const OrderInputs inputs = InputsOf(map);
  PipelineOrders orders;
  for (auto _ : state) {
    benchmark::DoNotOptimize(orders = MakeOrders(order, options, map, micro_batches, &inputs));
  }
  int64_t passes = 0;
  for (const PassOrder& of_stage : orders) passes += static_cast<int64_t>(of_stage.size());
  state.counters["passes"] = static_cast<double>(passes);
  state.counters["passes/s"] = benchmark::Counter(static_cast<double>(passes * state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

void BM_Orders(benchmark::State& state, PipelineOrder order, int chunks) {
  Measure(state, order, {}, ChunkMap(PlacementOf(order), 64, chunks), 4096);
}

// As many chunks as it takes, at most four.
int MostChunks(PipelineOrder order) {
  int chunks = 4;
  while (!FindChunkError(order, PlacementOf(order), 64, chunks).empty()) --chunks;
  return chunks;
}

void RegisterAllNames() {
  for (int i = 0; i < kPipelineOrderCount; ++i) {
    const auto order = static_cast<PipelineOrder>(i);
    if (order == PipelineOrder::kCustom) continue;
    const std::string name = "BM_Orders/" + std::string(Name(order));
    benchmark::RegisterBenchmark(name.c_str(), BM_Orders, order, MostChunks(order))
        ->Unit(benchmark::kMillisecond);
  }
}

// Activation limits in percent of what 1F1B's first stage holds.
void BM_AutomaticZeroBubble(benchmark::State& state) {
  OrderOptions options;
  options.activation_limit = static_cast<double>(state.range(2)) / 100;
  Measure(state, PipelineOrder::kZeroBubbleAuto, options,
          ChunkMap::Looped(static_cast<int>(state.range(0)), 1), static_cast<int>(state.range(1)));
}
BENCHMARK(BM_AutomaticZeroBubble)
    ->ArgNames({"stages", "micro_batches", "limit"})
    ->ArgsProduct({{32}, {256}, {100, 150, 300}})
    ->ArgsProduct({{64}, {4096}, {150, 200}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  stagecraft::RegisterAllNames();
  benchmark::RunSpecifiedBenchmarks();
}
