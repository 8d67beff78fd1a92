// Measures what must not grow with the size of a cluster or of a step: a folded step on up to a
// million devices, with its report of what is sent; the same report of an unfolded step; and flows
// of a whole cluster, whose like replicas have representatives.
//
// "devices" and "tasks" are those of the plan and of its unfolded schedule. "all_s" is the time
// with every replica simulated, in the same process.
#include <benchmark/benchmark.h>

#include <chrono>
#include <utility>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/units.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/step/evaluation.h"
#include "tests/large_job.h"
#include "tools/report/communicator_uses.h"

namespace stagecraft {
namespace {

// Plan, step and report, as simulate makes them.
void BM_Step(benchmark::State& state) {
  const UnitModel model;
  size_t uses = 0;
  int devices = 0;
  for (auto _ : state) {
    const LargeJob job = MakeLargeJob(static_cast<int>(state.range(0)), 16);
    const SimulatedStep step = SimulateStep(job.plan, job.workload, job.cluster, model);
    uses = FindCommunicators(step).size();
    devices = job.cluster.device_count();
    benchmark::DoNotOptimize(uses);
  }
  state.counters["devices"] = devices;
}
BENCHMARK(BM_Step)->ArgName("nodes")->Arg(16)->Arg(1600)->Arg(131072)->Unit(
    benchmark::kMillisecond);

void BM_Report(benchmark::State& state) {
  const UnitModel model;
  const LargeJob job = MakeLargeJob(static_cast<int>(state.range(0)), 1024);
  const SimulatedStep step =
      SimulateStep(job.plan, job.workload, job.cluster, model, {.unfold = true});
  for (auto _ : state) {
    benchmark::DoNotOptimize(FindCommunicators(step).size());
    benchmark::DoNotOptimize(FindInnerCommunication(step).size());
  }
  state.counters["tasks"] = step.schedule.task_count();
}
BENCHMARK(BM_Report)->ArgName("nodes")->Arg(128)->Unit(benchmark::kMillisecond);

Duration RunFlows(const LargeJob& job, const Schedule& schedule, std::vector<LinkChange> changes) {
  const AnalyticalModel model;
  SimExecutor executor(job.cluster, model,
                       {.fidelity = NetworkFidelity::kFlow, .changes = std::move(changes)});
  return executor.Execute(schedule).makespan();
}

// A change that changes nothing makes every replica send its own messages, for clusters where that
// takes some seconds.
void BM_Flows(benchmark::State& state) {
  const LargeJob job = MakeLargeJob(static_cast<int>(state.range(0)), 16);
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster, {.unfold = true});
  Duration makespan;
  for (auto _ : state) makespan = RunFlows(job, schedule, {});
  state.counters["devices"] = job.cluster.device_count();
  state.counters["tasks"] = schedule.task_count();
  if (state.range(0) > 512) return;
  const auto begin = std::chrono::steady_clock::now();
  CHECK(RunFlows(job, schedule, {{.time = Duration(), .link = 0, .rate = 1}}) == makespan);
  state.counters["all_s"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
BENCHMARK(BM_Flows)
    ->ArgName("nodes")
    ->Arg(512)
    ->Arg(2048)
    ->Arg(4096)
    ->Arg(12496)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
