// Measures how long estimates of memory take, beside the simulation of the same plan: a decoder of
// 126 blocks on nodes of 8 GPUs, with tensor parallelism of degree 8 and 16 stages.
#include <benchmark/benchmark.h>

#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/memory_curve.h"
#include "sim/memory/stage_memory.h"
#include "tests/large_job.h"

namespace stagecraft {
namespace {

LargeJob MakeJob(const benchmark::State& state) {
  const bool is_gpipe = state.range(2) == 1;
  return MakeLargeJob(
      static_cast<int>(state.range(0)), state.range(1),
      is_gpipe ? PipelineSchedule::kGpipe : PipelineSchedule::kOneForwardOneBackward);
}

// The baseline, which simulates the plan.
void BM_Simulate(benchmark::State& state) {
  const LargeJob job = MakeJob(state);
  const UnitModel model;
  for (auto _ : state) {
    const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
    SimExecutor executor(job.cluster, model);
    benchmark::DoNotOptimize(executor.Execute(schedule).makespan());
  }
}

void BM_EstimateMemory(benchmark::State& state) {
  const LargeJob job = MakeJob(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(EstimateMemory(job.plan, job.workload, job.cluster).data());
  }
}

void MeasureCurves(benchmark::State& state, CurveDetail detail) {
  const LargeJob job = MakeJob(state);
  const UnitModel model;
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
  SimExecutor executor(job.cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        MemoryOverTime(job.plan, job.workload, job.cluster, schedule, timeline, {}, detail).data());
  }
}

void BM_CurvesOfPasses(benchmark::State& state) { MeasureCurves(state, CurveDetail::kPasses); }

void BM_CurvesOfOperators(benchmark::State& state) {
  MeasureCurves(state, CurveDetail::kOperators);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"nodes", "micro_batches", "gpipe"})->Unit(benchmark::kMillisecond);
  for (const int micro_batches : {16, 160, 1600}) benchmark->Args({16, micro_batches, 0});
  benchmark->Args({2048, 16, 0});  // 16,384 GPUs
  benchmark->Args({16, 160, 1});
}
BENCHMARK(BM_Simulate)->Apply(Sizes);
BENCHMARK(BM_EstimateMemory)->Apply(Sizes);
BENCHMARK(BM_CurvesOfPasses)->Apply(Sizes);
BENCHMARK(BM_CurvesOfOperators)->Apply(Sizes);

}  // namespace
}  // namespace stagecraft
