// Measures bounds by family of plans, which are those with the same pipeline schedule and the same
// sharding (ZeRO): how near they are to the step, and how many plans of the family they leave to be
// evaluated before the five best plans are proven. "first" stands for StepBound, "close" for
// PlanBound; "left first" and "left close" count the plans whose bound is below the fifth best
// step.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/learned/learned_model.h"
#include "costmodel/memo_model.h"
#include "search/candidate.h"
#include "search/exhaustive.h"
#include "search/plan_bound.h"
#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

constexpr size_t kMostOfAFamily = 40;  // plans that are simulated

struct Family {
  std::vector<size_t> left_first;  // indices in the space
  int left_close = 0;
};

// One problem with its proven answer.
class Job {
 public:
  Job(const char* network, const char* cluster, int64_t batch, int64_t sequence)
      : workload_(LoadWorkload(network, AttentionBackend::kFlash)),
        cluster_(ParseCluster(cluster)),
        problem_{workload_, cluster_, model_, {}, {}} {
    problem_.given.global_batch = batch;
    problem_.given.sequence = sequence;
    problem_.choices.device_counts = DeviceCounts::kAny;
    space_ = MakePlanSpace(problem_);
    const SearchResult result = SearchExhaustively(problem_, *space_, {.top = 5});
    const double worst = result.plans.back().score;
    for (size_t i = 0; i < space_->size(); ++i) {
      if (space_->Bound(i) >= worst || space_->LeastMemory(i).Share() > 1) continue;
      const Plan plan = space_->Make(i);
      Family& family = families_[fmt::format("{} zero {}", Name(plan.schedule), plan.zero)];
      family.left_first.push_back(i);
      if (space_->CloseBound(i) < worst) ++family.left_close;
    }
  }

  const std::map<std::string, Family>& families() const { return families_; }

  // Measures the close bounds of a family.
  void Run(const std::string& name, benchmark::State& state) {
    const Family& family = families_.at(name);
    const size_t every = family.left_first.size() / kMostOfAFamily + 1;
    std::vector<Plan> plans;
    for (size_t i = 0; i < family.left_first.size(); i += every) {
      plans.push_back(space_->Make(family.left_first[i]));
    }
    PlanBound bound(problem_);
    for (auto _ : state) {
      for (const Plan& plan : plans) benchmark::DoNotOptimize(bound.StepTime(plan));
    }
    state.counters["bounds/s"] = benchmark::Counter(static_cast<double>(plans.size()),
                                                    benchmark::Counter::kIsIterationInvariantRate);
    state.counters["left first"] = static_cast<double>(family.left_first.size());
    state.counters["left close"] = family.left_close;
    CountGaps(family, every, state);
  }

 private:
  void CountGaps(const Family& family, size_t every, benchmark::State& state) {
    PlanRanker ranker(problem_);
    double first = 0, close = 0;
    int fitting = 0;
    for (size_t i = 0; i < family.left_first.size(); i += every) {
      const size_t index = family.left_first[i];
      std::optional<Plan> plan = MakeCandidate(problem_, *space_, index);
      if (!plan) continue;
      const RankedPlan ranked = ranker.Rank(std::move(*plan));
      if (!ranked.evaluation.fits) continue;
      ++fitting;
      first += space_->Bound(index) / ranked.score;
      close += space_->CloseBound(index) / ranked.score;
    }
    if (fitting == 0) return;
    state.counters["first/step"] = first / fitting;
    state.counters["close/step"] = close / fitting;
  }

  const Workload workload_;
  const Cluster cluster_;
  const MemoModel model_{LearnedModel::Shipped()};
  SearchProblem problem_;
  std::unique_ptr<PlanSpace> space_;
  std::map<std::string, Family> families_;
};

void Register(const char* name, Job& job) {
  for (const auto& [family, plans] : job.families()) {
    benchmark::RegisterBenchmark(
        fmt::format("{}/{}", name, family).c_str(),
        [&job, family = family](benchmark::State& state) { job.Run(family, state); })
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  stagecraft::Job gpt3("gpt3-175b", "a100-sxm4-80gb:128x8", 1536, 2048);
  stagecraft::Register("gpt3-175b on 1024 A100", gpt3);
  stagecraft::Job llama3("llama3-405b", "h100-sxm:128x8", 2048, 8192);
  stagecraft::Register("llama3-405b on 1024 H100", llama3);
  benchmark::RunSpecifiedBenchmarks();
}
