// Measures how long a training run of 10,000 steps takes to simulate, the question of an engineer
// who asks once: a network of 48 blocks that changes 40 times, on a pipeline of 8 A100s and on 90
// of them, with nobody who balances, and with partition and diffusion by measured times.
//
// "changes" is how often the network changes, and "vs_steps" the time over that of simulating as
// many steps of the unchanged network, each with a cost model that remembers nothing, in the same
// process.
#include <benchmark/benchmark.h>

#include <ctime>
#include <string>
#include <utility>

#include "costmodel/learned/learned_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/training/job_simulation.h"
#include "search/training/trained_states.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/dynamics/dynamics.h"
#include "sim/job/job_run.h"
#include "sim/plan/make_plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

constexpr int64_t kSteps = 10'000;

// Returns weights that are removed, or scores that are not computed, at 40 steps of the run.
Dynamics Changing(bool is_pruned) {
  Dynamics dynamics;
  if (is_pruned) {
    dynamics.pruning = Pruning{
        .schedule = {.first_step = 1800, .end_step = kSteps, .interval = 200}, .width_spread = 0.3};
  } else {
    dynamics.sparse_attention =
        SparseAttention{.least_density = 0.1, .most_density = 0.6, .interval = kSteps / 40};
  }
  return dynamics;
}

struct Run {
  explicit Run(int pipelines)
      : workload(LoadWorkload("megatron:48x1024x16", AttentionBackend::kFlash)),
        cluster(ParseCluster("a100-sxm4-40gb:" + std::to_string(pipelines) + "x8")) {
    PlanDegrees degrees;
    degrees.pipeline = 8;
    degrees.data = pipelines;
    degrees.micro_batch = 2;
    degrees.global_batch = int64_t{64} * pipelines;
    degrees.sequence = 2048;
    plan = MakePlan(degrees, workload, cluster);
  }

  Workload workload;
  Cluster cluster;
  Plan plan;
};

double SecondsOfAStep(const Run& run) {
  const std::clock_t start = std::clock();
  const MemoModel model(LearnedModel::Shipped());
  benchmark::DoNotOptimize(SimulateStep(run.plan, run.workload, run.cluster, model));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void Train(benchmark::State& state, bool is_pruned) {
  const Run run(static_cast<int>(state.range(0)));
  SecondsOfAStep(run);  // reads the model
  const double step = SecondsOfAStep(run);
  size_t states = 0;
  const std::clock_t start = std::clock();
  for (auto _ : state) {
    const MemoModel model(LearnedModel::Shipped());
    Job job = {.workload = run.workload,
               .cluster = run.cluster,
               .model = model,
               .plan = run.plan,
               .steps = kSteps,
               .changes = ChangesOf(Changing(is_pruned), run.workload, kSteps, Random(1)),
               .balance = {.balancer = static_cast<Balancer>(state.range(1))}};
    const JobSimulation simulation(job, TrainStates(job));
    benchmark::DoNotOptimize(SimulateRun(simulation.spec(), Random(1)));
    states = simulation.states().size();
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const auto runs = static_cast<double>(state.iterations());
  state.counters["changes"] = static_cast<double>(states - 1);
  state.counters["vs_steps"] = seconds / runs / (step * static_cast<double>(states));
}

void Pruned(benchmark::State& state) { Train(state, true); }
void SparseScores(benchmark::State& state) { Train(state, false); }

void EveryCase(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"pipelines", "balancer"})->Unit(benchmark::kMillisecond);
  for (const int pipelines : {1, 90}) {
    for (const Balancer balancer : {Balancer::kNone, Balancer::kPartition, Balancer::kDiffusion}) {
      benchmark->Args({pipelines, static_cast<int>(balancer)});
    }
  }
}

BENCHMARK(Pruned)->Apply(EveryCase);
BENCHMARK(SparseScores)->Apply(EveryCase);

}  // namespace
}  // namespace stagecraft
