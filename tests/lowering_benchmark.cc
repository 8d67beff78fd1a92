// Measures the rates of lowering a plan and of a whole evaluation, against those of the engine
// alone on the same schedule.
#include <benchmark/benchmark.h>

#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "tests/large_job.h"

namespace stagecraft {
namespace {

void Report(benchmark::State& state, int tasks) {
  state.counters["tasks"] = tasks;
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(tasks) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

void BM_Lower(benchmark::State& state) {
  const LargeJob job = MakeLargeJob(static_cast<int>(state.range(0)), state.range(1));
  int tasks = 0;
  for (auto _ : state) {
    const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
    tasks = schedule.task_count();
    benchmark::DoNotOptimize(tasks);
  }
  Report(state, tasks);
}

void BM_LowerAndRun(benchmark::State& state) {
  const LargeJob job = MakeLargeJob(static_cast<int>(state.range(0)), state.range(1));
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

// The baseline, which binds and runs an existing schedule.
void BM_Run(benchmark::State& state) {
  const LargeJob job = MakeLargeJob(static_cast<int>(state.range(0)), state.range(1));
  const UnitModel model;
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
  SimExecutor executor(job.cluster, model);
  for (auto _ : state) benchmark::DoNotOptimize(executor.Execute(schedule).makespan());
  Report(state, schedule.task_count());
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"nodes", "micro_batches"})->Unit(benchmark::kMillisecond);
  for (const int micro_batches : {16, 160, 1600}) benchmark->Args({16, micro_batches});
  for (const int nodes : {160, 1600, 2048}) benchmark->Args({nodes, 16});
}
BENCHMARK(BM_Lower)->Apply(Sizes);
BENCHMARK(BM_LowerAndRun)->Apply(Sizes);
BENCHMARK(BM_Run)->Apply(Sizes);

}  // namespace
}  // namespace stagecraft
