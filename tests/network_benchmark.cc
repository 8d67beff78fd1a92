// Measures the speed of the flow-level network, beside SimGrid's on the same traffic.
//
// Each run is a child process of its own, to measure its peak memory and because SimGrid allows one
// platform per process. The time is the CPU time of the simulation once the network is built; for
// both, the fastest of three runs counts. The simulated times of both must agree within 0.1 %.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "sim/network/collective_patterns.h"
#include "sim/network/flow_network.h"
#include "sim/network/flow_simulation.h"
#include "tests/simgrid_traffic.h"
#include "tests/traffic.h"

namespace stagecraft {
namespace {

constexpr int kRuns = 3;

struct Measured {
  double cpu_seconds = 0;
  double seconds = 0;  // the simulated time
  double messages = 0;
  double peak_bytes = 0;
};

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Measures kRuns runs, each in a child process, and returns the fastest.
Measured Measure(const std::function<Measured()>& run) {
  Measured best;
  for (int i = 0; i < kRuns; ++i) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      Measured measured = run();
      rusage usage;
      getrusage(RUSAGE_SELF, &usage);
      measured.peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
      CHECK(write(ends[1], &measured, sizeof(measured)) == sizeof(measured));
      _exit(0);
    }
    Measured measured;
    CHECK(read(ends[0], &measured, sizeof(measured)) == sizeof(measured));
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    if (i == 0 || measured.cpu_seconds < best.cpu_seconds) best = measured;
  }
  return best;
}

std::vector<RouteId> Build(const TrafficNetwork& traffic, FlowNetwork* network) {
  for (const TrafficLink& link : traffic.links) network->AddLink(link.bandwidth, link.latency);
  std::vector<RouteId> routes;
  for (const TrafficRoute& route : traffic.routes) routes.push_back(network->AddRoute(route.links));
  return routes;
}

Measured RunRings(const RingTraffic& traffic) {
  FlowNetwork network;
  const std::vector<RouteId> routes = Build(traffic.network, &network);
  const double begin = CpuSeconds();
  FlowSimulation simulation(&network);
  const MessagePattern pattern = RingAllReduce(traffic.ranks, traffic.bytes);
  for (int ring = 0; ring < traffic.rings; ++ring) {
    const std::span<const RouteId> own(routes.data() + int64_t{ring} * traffic.ranks,
                                       traffic.ranks);
    simulation.Start(ring, pattern, own, Duration());
  }
  while (!simulation.Advance(Duration::Max()).empty()) {
  }
  return {CpuSeconds() - begin, simulation.now().seconds(),
          static_cast<double>(simulation.messages_arrived()), 0};
}

// Drives a FlowSimulation as an engine would. Passes are timers with the id 3 * stage; messages to
// the next and to the previous stage have the two ids after it.
class PipelineDriver {
 public:
  explicit PipelineDriver(const PipelineTraffic& traffic)
      : traffic_(traffic),
        routes_(Build(traffic.network, &network_)),
        message_(SendReceive(traffic.message)),
        simulation_(&network_),
        stages_(traffic.orders.size()) {}

  Measured Run() {
    const double begin = CpuSeconds();
    const int last = static_cast<int>(stages_.size()) - 1;
    for (int stage = 0; stage <= last; ++stage) TryPass(stage);
    for (;;) {
      const std::span<const int32_t> ended = simulation_.Advance(Duration::Max());
      if (ended.empty()) break;
      for (const int32_t id : ended) End(id / 3, id % 3);
    }
    return {CpuSeconds() - begin, simulation_.now().seconds(),
            static_cast<double>(simulation_.messages_arrived()), 0};
  }

 private:
  struct Stage {
    int next = 0;      // index of its next pass in its pass order
    int forwards = 0;  // messages that have arrived and are not used yet
    int backwards = 0;
    bool is_busy = false;
  };

  bool IsLast(int stage) const { return stage + 1 == static_cast<int>(stages_.size()); }

  void TryPass(int index) {
    Stage& stage = stages_[index];
    const PassOrder& order = traffic_.orders[index];
    if (stage.is_busy || stage.next == static_cast<int>(order.size())) return;
    const bool is_forward = order[stage.next].phase == Phase::kForward;
    const bool needs_message = is_forward ? index > 0 : !IsLast(index);
    int& arrived = is_forward ? stage.forwards : stage.backwards;
    if (needs_message && arrived == 0) return;
    if (needs_message) --arrived;
    stage.is_busy = true;
    simulation_.StartTimer(3 * index, simulation_.now() + traffic_.durations[index][stage.next]);
  }

  void Send(int id, int route) {
    simulation_.Start(id, message_, {&routes_[route], 1}, simulation_.now());
  }

  void End(int index, int kind) {
    if (kind == 1) {
      ++stages_[index + 1].forwards;
      return TryPass(index + 1);
    }
    if (kind == 2) {
      ++stages_[index - 1].backwards;
      return TryPass(index - 1);
    }
    Stage& stage = stages_[index];
    const bool is_forward = traffic_.orders[index][stage.next].phase == Phase::kForward;
    ++stage.next;
    stage.is_busy = false;
    if (is_forward && !IsLast(index)) Send(3 * index + 1, 2 * index);
    if (!is_forward && index > 0) Send(3 * index + 2, 2 * (index - 1) + 1);
    TryPass(index);
  }

  const PipelineTraffic& traffic_;
  FlowNetwork network_;
  std::vector<RouteId> routes_;
  MessagePattern message_;
  FlowSimulation simulation_;
  std::vector<Stage> stages_;
};

void Report(benchmark::State& state, const Measured& ours, double simgrid_cpu_seconds,
            double simgrid_seconds) {
  state.SetIterationTime(ours.cpu_seconds);
  state.counters["flows/s"] = ours.messages / ours.cpu_seconds;
  state.counters["MB"] = ours.peak_bytes / 1e6;
  state.counters["simulated_s"] = ours.seconds;
  if (simgrid_cpu_seconds == 0) return;
  state.counters["simgrid_s"] = simgrid_cpu_seconds;
  state.counters["simgrid_flows/s"] = ours.messages / simgrid_cpu_seconds;
  state.counters["times_simgrid"] = simgrid_cpu_seconds / ours.cpu_seconds;
  if (std::abs(ours.seconds / simgrid_seconds - 1) > 1e-3) {
    state.SkipWithError("simulated times differ from SimGrid's");
  }
}

enum class Beside { kSimgrid, kNothing };

template <typename Traffic>
void RunBoth(benchmark::State& state, const Traffic& traffic, Beside beside,
             const std::function<Measured()>& run) {
  for (auto _ : state) {
    const Measured ours = Measure(run);
    Measured simgrid;
    if (beside == Beside::kSimgrid) {
      simgrid = Measure([&traffic] {
        const SimgridRun run_on_simgrid = RunOnSimgrid(traffic);
        return Measured{run_on_simgrid.cpu_seconds, run_on_simgrid.seconds, 0, 0};
      });
      state.counters["simgrid_MB"] = simgrid.peak_bytes / 1e6;
    }
    Report(state, ours, simgrid.cpu_seconds, simgrid.seconds);
  }
}

// AR-n: one ring all-reduce of 1 GiB over n ranks, on links of 50 GB/s and 500 ns.
void BM_AllReduce(benchmark::State& state) {
  const RingTraffic traffic = LoopTraffic(static_cast<int>(state.range(0)), Bytes(1 << 30));
  RunBoth(state, traffic, Beside::kSimgrid, [&traffic] { return RunRings(traffic); });
}
BENCHMARK(BM_AllReduce)
    ->ArgName("ranks")
    ->Arg(64)
    ->Arg(512)
    ->Arg(1024)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Ring all-reduces of 64 MiB, an eighth as many as there are hosts, all at once. SimGrid's table of
// routes grows with the square of the number of hosts, so it does not run the largest case.
void BM_FatTree(benchmark::State& state) {
  const int hosts = static_cast<int>(state.range(0));
  const RingTraffic traffic = FatTreeTraffic(hosts, Bytes(64 << 20), 1);
  const Beside beside = hosts <= 4096 ? Beside::kSimgrid : Beside::kNothing;
  RunBoth(state, traffic, beside, [&traffic] { return RunRings(traffic); });
}
BENCHMARK(BM_FatTree)
    ->ArgName("hosts")
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(16384)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// PP-PxM: flows/s count messages; there are slightly more passes than messages.
void BM_Pipeline(benchmark::State& state) {
  const PipelineTraffic traffic =
      StarPipelineTraffic(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), 1);
  RunBoth(state, traffic, Beside::kSimgrid, [&traffic] { return PipelineDriver(traffic).Run(); });
}
BENCHMARK(BM_Pipeline)
    ->ArgNames({"stages", "micro_batches"})
    ->Args({64, 256})
    ->Args({512, 512})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
