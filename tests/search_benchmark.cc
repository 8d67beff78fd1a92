// Measures the parts of a search, for GPT-3 175B on 1,024 A100s, with the time of every op known:
// plans are made, bounded and evaluated, namely one alone, the best ones by their bound, and a walk
// of plans that differ by one move. The baseline is the whole simulation of each.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "costmodel/learned/learned_model.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/candidate.h"
#include "search/evaluator.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/stage_memory.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/enumerated_plans.h"

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

Evaluation SimulateWhole(const Plan& plan) {
  const Job& job = TheJob();
  return SimulateStep(plan, job.workload, job.cluster, job.model).evaluation;
}

std::vector<Plan> BestByBound(size_t count) {
  const SearchProblem problem = TheJob().Problem();
  const std::unique_ptr<PlanSpace> space = MakeEqualStages(problem);
  EnumerateAll(*space);
  std::vector<std::pair<double, size_t>> by_bound;
  for (size_t i = 0; i < space->size(); ++i) {
    if (space->LeastMemory(i).Share() <= 1) by_bound.emplace_back(space->Bound(i), i);
  }
  std::sort(by_bound.begin(), by_bound.end());
  std::vector<Plan> plans;
  for (size_t i = 0; i < count; ++i) plans.push_back(space->Make(by_bound[i].second));
  return plans;
}

// Makes one move: a block goes to the next stage or comes from there, a stage begins or ceases to
// recompute everything, or all micro-batches become twice or half as large.
void Move(Random& random, Plan& plan) {
  const auto stages = static_cast<int64_t>(plan.stages.size());
  const auto stage = static_cast<size_t>(random.Integer(0, stages - 2));
  const int64_t kind = random.Integer(0, 9);
  if (kind == 0) {
    plan.micro_batch = 3 - plan.micro_batch;
  } else if (kind < 4) {
    Recompute& recompute = plan.stages[stage].recompute;
    recompute = recompute == Recompute::kFull ? Recompute::kNone : Recompute::kFull;
  } else {
    LayerRange& own = plan.stages[stage].chunks[0];
    LayerRange& next = plan.stages[stage + 1].chunks[0];
    const int moved = random.Integer(0, 1) == 0 ? 1 : -1;
    if (own.count + moved < 10 || next.count - moved < 10) return;
    own.count += moved;
    next = {next.first + moved, next.count - moved};
  }
}

std::vector<Plan> Walk(int moves) {
  Random random(1);
  std::vector<Plan> plans{TheJob().plan};
  for (int i = 0; i < moves; ++i) {
    plans.push_back(plans.back());
    Move(random, plans.back());
  }
  return plans;
}

void EvaluateAll(const std::vector<Plan>& plans, benchmark::State& state) {
  const Job& job = TheJob();
  Evaluator evaluator(job.workload, job.cluster, job.model);
  for (const Plan& plan : plans) benchmark::DoNotOptimize(evaluator.Evaluate(plan));
  const auto steps = static_cast<double>(evaluator.short_steps() + evaluator.whole_steps());
  state.counters["fit"] = steps / static_cast<double>(plans.size());
  state.counters["short"] = static_cast<double>(evaluator.short_steps()) / steps;
}

// Reports as "ratio" how many plans are evaluated in the time of one whole simulation.
void CompareWithWhole(const std::vector<Plan>& plans, benchmark::State& state) {
  constexpr size_t kEvery = 10;
  const std::clock_t begin = std::clock();  // CPU time, like that of the rates
  double simulated = 0;
  for (size_t i = 0; i < plans.size(); i += kEvery, ++simulated) {
    benchmark::DoNotOptimize(SimulateWhole(plans[i]));
  }
  const double whole = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / simulated;
  state.counters["ratio"] = benchmark::Counter(
      whole * static_cast<double>(state.iterations() * plans.size()), benchmark::Counter::kIsRate);
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
    EnumerateAll(*space);
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

// The baseline for an existing schedule.
void BM_Simulate(benchmark::State& state) {
  const Job& job = TheJob();
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster);
  SimExecutor executor(job.cluster, job.model);
  for (auto _ : state) benchmark::DoNotOptimize(executor.Execute(schedule));
  CountPlans(state, static_cast<double>(state.iterations()));
}

// The baseline for a plan: the whole simulation.
void BM_SimulateStep(benchmark::State& state) {
  const Job& job = TheJob();
  for (auto _ : state) benchmark::DoNotOptimize(SimulateWhole(job.plan));
  CountPlans(state, static_cast<double>(state.iterations()));
}

void BM_EvaluatePlan(benchmark::State& state) {
  const Job& job = TheJob();
  for (auto _ : state) {
    benchmark::DoNotOptimize(Evaluator(job.workload, job.cluster, job.model).Evaluate(job.plan));
  }
  CountPlans(state, static_cast<double>(state.iterations()));
}

// Evaluates plans as a search would look at them, by an evaluator that has seen none before.
void BM_EvaluateSweep(benchmark::State& state) {
  static const std::vector<Plan> plans = BestByBound(400);
  for (auto _ : state) EvaluateAll(plans, state);
  CountPlans(state, static_cast<double>(state.iterations() * plans.size()));
  CompareWithWhole(plans, state);
}

// Evaluates the same plans by an evaluator that has seen them.
void BM_EvaluateSweepAgain(benchmark::State& state) {
  const Job& job = TheJob();
  static const std::vector<Plan> plans = BestByBound(400);
  Evaluator evaluator(job.workload, job.cluster, job.model);
  for (const Plan& plan : plans) evaluator.Evaluate(plan);
  for (auto _ : state) {
    for (const Plan& plan : plans) benchmark::DoNotOptimize(evaluator.Evaluate(plan));
  }
  CountPlans(state, static_cast<double>(state.iterations() * plans.size()));
  CompareWithWhole(plans, state);
}

// Evaluates them for the first time as a search does, which simulates no allocator for plans whose
// tensors alone do not fit.
void BM_RankSweep(benchmark::State& state) {
  const SearchProblem problem = TheJob().Problem();
  static const std::vector<Plan> plans = BestByBound(400);
  for (auto _ : state) {
    PlanRanker ranker(problem);
    for (const Plan& plan : plans) benchmark::DoNotOptimize(ranker.Rank(plan));
  }
  CountPlans(state, static_cast<double>(state.iterations() * plans.size()));
  CompareWithWhole(plans, state);
}

// Evaluates the plans of a walk like those of MCMC.
void BM_EvaluateMoves(benchmark::State& state) {
  static const std::vector<Plan> plans = Walk(1000);
  for (auto _ : state) EvaluateAll(plans, state);
  CountPlans(state, static_cast<double>(state.iterations() * plans.size()));
  CompareWithWhole(plans, state);
}

// Searches all 41,560 plans, until the best one is proven.
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
BENCHMARK(BM_SimulateStep)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_EvaluatePlan)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_EvaluateSweep)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_EvaluateSweepAgain)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RankSweep)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_EvaluateMoves)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Search)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace stagecraft
