// What memory costs beside the simulation of the same plan: a decoder of 126
// blocks on nodes of 8 boards, tensor degree 8, 16 stages.
#include <benchmark/benchmark.h>

#include "costmodel/cost_model.h"
#include "sim/cluster.h"
#include "sim/decoder.h"
#include "sim/lowering.h"
#include "sim/memory/memory_curve.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan.h"
#include "sim/sim_executor.h"
#include "sim/test_nodes.h"

namespace stagecraft {
namespace {

// Every op takes a microsecond: what remains is the cost of the machinery.
class UnitModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    return std::vector<Estimate>(ops.size(), {1_us, Basis::kAnalytical, 0});
  }
};

struct Job {
  Workload workload;
  Cluster cluster;
  Plan plan;
};

// Sizes of Llama-3-405B.
Job MakeJob(int nodes, int64_t micro_batches_per_replica, PipelineOrder order) {
  DecoderConfig config = DecoderOfFamily("llama");
  config.layers = 126;
  config.hidden = 16384;
  config.heads = 128;
  config.kv_heads = 8;
  config.ffn = 53248;
  config.vocab = 128256;
  config.max_sequence = 8192;
  Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "decoder");
  NodeType node = Switched();
  node.device.peak.fill(FlopRate(1e15));
  Cluster cluster("nodes of 8", {{node, nodes}});
  PlanDegrees degrees;
  degrees.tensor = 8;
  degrees.pipeline = 16;
  degrees.sequence = 8192;
  degrees.order = order;
  degrees.global_batch = nodes / 16 * micro_batches_per_replica;
  Plan plan = MakePlan(degrees, workload, cluster);
  return {std::move(workload), std::move(cluster), std::move(plan)};
}

Job MakeJob(const benchmark::State& state) {
  const bool is_gpipe = state.range(2) == 1;
  return MakeJob(static_cast<int>(state.range(0)), state.range(1),
                 is_gpipe ? PipelineOrder::kGpipe : PipelineOrder::kOneForwardOneBackward);
}

// The baseline.
void BM_Simulate(benchmark::State& state) {
  const Job job = MakeJob(state);
  const UnitModel model;
  for (auto _ : state) {
    const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
    SimExecutor executor(job.cluster, model);
    benchmark::DoNotOptimize(executor.Execute(schedule).makespan());
  }
}

void BM_EstimateMemory(benchmark::State& state) {
  const Job job = MakeJob(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(EstimateMemory(job.plan, job.workload, job.cluster).data());
  }
}

void BM_MemoryOverTime(benchmark::State& state) {
  const Job job = MakeJob(state);
  const UnitModel model;
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
  SimExecutor executor(job.cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        MemoryOverTime(job.plan, job.workload, job.cluster, schedule, timeline).data());
  }
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"nodes", "micro_batches", "gpipe"})->Unit(benchmark::kMillisecond);
  for (const int micro_batches : {16, 160, 1600}) benchmark->Args({16, micro_batches, 0});
  benchmark->Args({2048, 16, 0});  // 16,384 boards
  benchmark->Args({16, 160, 1});
}
BENCHMARK(BM_Simulate)->Apply(Sizes);
BENCHMARK(BM_EstimateMemory)->Apply(Sizes);
BENCHMARK(BM_MemoryOverTime)->Apply(Sizes);

}  // namespace
}  // namespace stagecraft
