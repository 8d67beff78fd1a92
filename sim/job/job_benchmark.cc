// Measures rates of simulated histories: 54 days on 16,384 devices that fail as those of Meta's run
// of Llama 3 405B did (an interruption every 3.1 h), with steps of 10 s and a checkpoint every 20
// minutes. "Healthy" is the baseline in the same process: the same run without failures.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/random.h"
#include "sim/job/job_run.h"
#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

constexpr int kDevices = 16384;
constexpr int kHistories = 1000;

RunSpec LargeRun(const Cluster& cluster) {
  RunSpec spec = SmallRun(cluster, 54 * 8640);
  spec.checkpoint = {.interval = Seconds(1200), .write = Seconds(10)};
  spec.recovery.detection = Seconds(60);
  spec.recovery.restart = Seconds(120);
  spec.recovery.reload = Seconds(60);
  spec.rates.device_kinds = {{"", Seconds(50677 * 3600.0)}};
  spec.rates.repair = Seconds(600);
  spec.step = [](const ClusterState& state, int) {
    const int working = kDevices - static_cast<int>(state.down.size());
    return std::optional(RunningStep{Seconds(10.0 * kDevices / working), working});
  };
  return spec;
}

void Simulate(benchmark::State& state, const RunSpec& spec) {
  int64_t failures = 0;
  for (auto _ : state) {
    for (const RunTotals& run : SimulateRuns(spec, kHistories, Random(1))) {
      failures += run.failures;
    }
  }
  const double histories =
      static_cast<double>(kHistories) * static_cast<double>(state.iterations());
  state.counters["failures/history"] = static_cast<double>(failures) / histories;
  state.counters["histories/s"] = benchmark::Counter(histories, benchmark::Counter::kIsRate);
}

void Healthy(benchmark::State& state) {
  const Cluster cluster = SwitchedNodes(kDevices / 8);
  RunSpec spec = LargeRun(cluster);
  spec.rates = {};
  Simulate(state, spec);
}

// The argument is the recovery policy.
void Failing(benchmark::State& state) {
  const Cluster cluster = SwitchedNodes(kDevices / 8);
  RunSpec spec = LargeRun(cluster);
  spec.recovery.policy = static_cast<Recovery::Policy>(state.range(0));
  spec.recovery.spare_nodes = 16;
  Simulate(state, spec);
}

BENCHMARK(Healthy)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Failing)
    ->ArgName("policy")
    ->Arg(static_cast<int>(Recovery::Policy::kRestart))
    ->Arg(static_cast<int>(Recovery::Policy::kSpare))
    ->Arg(static_cast<int>(Recovery::Policy::kShrink))
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace stagecraft
