// What a search is made of, for GPT-3 175B on 1,024 A100s: plans made and bounded, and
// evaluated in full with every op's time remembered, against their simulation alone.
#include <benchmark/benchmark.h>

#include <memory>

#include "costmodel/learned/learned_model.h"
#include "costmodel/memo_model.h"
#include "search/evaluation.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "sim/cluster_spec.h"
#include "sim/lowering.h"
#include "sim/memory/stage_memory.h"
#include "sim/sim_executor.h"
#include "sim/workload_catalogue.h"

namespace stagecraft {
namespace {

struct Job {
  Workload workload = LoadWorkload("gpt3-175b", AttentionBackend::kFlash);
  Cluster cluster = ParseCluster("a100-sxm4-80gb:128x8");
  MemoModel model{LearnedModel::Shipped()};
  PlanDegrees degrees = Degrees();
  Plan plan = MakePlan(degrees, workload, cluster);

  static PlanDegrees Degrees() {
    PlanDegrees degrees;
    degrees.tensor = 8;
    degrees.pipeline = 8;
    degrees.global_batch = 1536;
    degrees.sequence = 2048;
    return degrees;
  }
  SearchProblem Problem() const {
    PlanDegrees given;
    given.global_batch = degrees.global_batch;
    given.sequence = degrees.sequence;
    return {.workload = workload, .cluster = cluster, .model = model, .given = given};
  }
};

const Job& TheJob() {
  static const Job job;
  return job;
}

void CountPlans(benchmark::State& state, double plans) {
  state.counters["plans/s"] = benchmark::Counter(plans, benchmark::Counter::kIsRate);
}

void BM_MakePlan(benchmark::State& state) {
  const Job& job = TheJob();
  for (auto _ : state) {
    benchmark::DoNotOptimize(MakePlan(job.degrees, job.workload, job.cluster));
  }
  CountPlans(state, static_cast<double>(state.iterations()));
}

void BM_BoundSpace(benchmark::State& state) {
  const SearchProblem problem = TheJob().Problem();
  size_t plans = 0;
  for (auto _ : state) {
    const std::unique_ptr<PlanSpace> space = MakeEqualStages(problem);
    for (size_t i = 0; i < space->size(); ++i) benchmark::DoNotOptimize(space->Bound(i));
    plans += space->size();
  }
  CountPlans(state, static_cast<double>(plans));
}

void BM_Memory(benchmark::State& state) {
  const Job& job = TheJob();
  for (auto _ : state) {
    benchmark::DoNotOptimize(EstimateMemory(job.plan, job.workload, job.cluster));
  }
  CountPlans(state, static_cast<double>(state.iterations()));
}

void BM_Lower(benchmark::State& state) {
  const Job& job = TheJob();
  for (auto _ : state) benchmark::DoNotOptimize(Lower(job.plan, job.workload, job.cluster));
  CountPlans(state, static_cast<double>(state.iterations()));
}

// The baseline: a schedule that is there already.
void BM_Simulate(benchmark::State& state) {
  const Job& job = TheJob();
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
  SimExecutor executor(job.cluster, job.model);
  for (auto _ : state) benchmark::DoNotOptimize(executor.Execute(schedule));
  CountPlans(state, static_cast<double>(state.iterations()));
}

void BM_Evaluate(benchmark::State& state) {
  const Job& job = TheJob();
  for (auto _ : state) {
    benchmark::DoNotOptimize(EvaluatePlan(job.plan, job.workload, job.cluster, job.model));
  }
  CountPlans(state, static_cast<double>(state.iterations()));
}

// All 41,560 plans, the best one proven.
void BM_Search(benchmark::State& state) {
  const SearchProblem problem = TheJob().Problem();
  double plans = 0;
  for (auto _ : state) {
    const SearchResult result = SearchExhaustively(problem, *MakeEqualStages(problem), {});
    plans += static_cast<double>(result.candidates);
  }
  CountPlans(state, plans);
}

BENCHMARK(BM_MakePlan)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_BoundSpace)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Memory)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Lower)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Simulate)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Evaluate)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Search)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace stagecraft
