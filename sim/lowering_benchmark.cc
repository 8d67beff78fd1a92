// Rates of lowering a plan, and of a whole evaluation, against the bare engine
// on the same schedule.
#include <benchmark/benchmark.h>

#include "costmodel/cost_model.h"
#include "sim/cluster.h"
#include "sim/decoder.h"
#include "sim/lowering.h"
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

// A decoder of 126 blocks on nodes of 8, tensor degree 8, 16 stages.
Job MakeJob(int nodes, int64_t micro_batches_per_replica) {
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
  degrees.global_batch = nodes / 16 * micro_batches_per_replica;
  Plan plan = MakePlan(degrees, workload, cluster);
  return {std::move(workload), std::move(cluster), std::move(plan)};
}

void Report(benchmark::State& state, int tasks) {
  state.counters["tasks"] = tasks;
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(tasks) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

void BM_Lower(benchmark::State& state) {
  const Job job = MakeJob(static_cast<int>(state.range(0)), state.range(1));
  int tasks = 0;
  for (auto _ : state) {
    const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
    tasks = schedule.task_count();
    benchmark::DoNotOptimize(tasks);
  }
  Report(state, tasks);
}

void BM_LowerAndRun(benchmark::State& state) {
  const Job job = MakeJob(static_cast<int>(state.range(0)), state.range(1));
  const UnitModel model;
  int tasks = 0;
  for (auto _ : state) {
    const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
    SimExecutor executor(job.cluster, model);
    benchmark::DoNotOptimize(executor.Execute(schedule).makespan());
    tasks = schedule.task_count();
  }
  Report(state, tasks);
}

// The baseline: binding and running a schedule that is there already.
void BM_Run(benchmark::State& state) {
  const Job job = MakeJob(static_cast<int>(state.range(0)), state.range(1));
  const UnitModel model;
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
  SimExecutor executor(job.cluster, model);
  for (auto _ : state) benchmark::DoNotOptimize(executor.Execute(schedule).makespan());
  Report(state, schedule.task_count());
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"nodes", "micro_batches"})->Unit(benchmark::kMillisecond);
  for (const int micro_batches : {16, 160, 1600}) benchmark->Args({16, micro_batches});
  for (const int nodes : {160, 1600}) benchmark->Args({nodes, 16});
}
BENCHMARK(BM_Lower)->Apply(Sizes);
BENCHMARK(BM_LowerAndRun)->Apply(Sizes);
BENCHMARK(BM_Run)->Apply(Sizes);

}  // namespace
}  // namespace stagecraft
