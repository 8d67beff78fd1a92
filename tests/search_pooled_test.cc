// Tests of pipelines over several GPU types: their bounds against the simulator, and branch and
// bound against all of them one by one.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/checker.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/networks/decoder.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

// The best score of all plans of the space, if any fits.
std::optional<double> BestOfAll(const SearchProblem& problem, PlanSpace& space) {
  std::optional<double> best;
  for (size_t i = 0; i < space.size(); ++i) {
    Plan plan;
    try {
      plan = space.Make(i);
    } catch (const InputError&) {
      continue;
    }
    const Evaluation evaluation =
        SimulateStep(plan, problem.workload, problem.cluster, problem.model).evaluation;
    const double score = Score(problem, evaluation);
    EXPECT_LE(space.Bound(i), score) << space.Describe(i);
    EXPECT_LE(space.LeastTime(i), evaluation.step_time) << space.Describe(i);
    EXPECT_LE(space.LeastCost(i), CostOf(problem, evaluation)) << space.Describe(i);
    EXPECT_LE(space.LeastMemory(i).Share(), MemoryShare(evaluation.memory)) << space.Describe(i);
    EXPECT_EQ(space.GroupDevices(i), evaluation.group_devices) << space.Describe(i);
    if (evaluation.fits && (!best || score < *best)) best = score;
  }
  return best;
}

TEST(PooledStagesTest, TheBestOfAllIsFoundAndNoBoundIsAboveAStep) {
  int with_answer = 0, mixing = 0;
  for (uint64_t seed = 0; seed < 48; ++seed) {
    const auto mixed = MakeMixedProblem(Random(seed), Random(seed + 1000), 0.5);
    const MemoModel memo(mixed->model);
    SearchProblem problem = mixed->Ask(memo);
    problem.objective = static_cast<Objective>(seed % 2);
    problem.choices.micro_batches = {1, 2};
    if (seed % 4 == 1) problem.prices = {2.5, 1.1};
    if (seed >= 40) {
      problem.given.offload = {.optimizer = true, .host_memory = Bytes(int64_t{1} << 40)};
      problem.choices.rank_orders = {kStagesFirstRankOrder, kDefaultRankOrder};
    }
    const std::unique_ptr<PlanSpace> space = MakePooledStages(problem);
    EnumerateAll(*space);
    ASSERT_GT(space->size(), 50u);
    const std::optional<double> best = BestOfAll(problem, *space);
    const SearchResult result = SearchExhaustively(problem, *space, {});
    ASSERT_EQ(result.plans.empty(), !best.has_value()) << seed;
    if (!best) continue;
    ++with_answer;
    EXPECT_EQ(result.plans[0].score, *best) << seed;
    EXPECT_TRUE(result.is_optimal);
    EXPECT_TRUE(FindErrors(problem, result.plans[0]).empty());
    const Plan& plan = result.plans[0].plan;
    const int first = plan.stages.front().replicas[0][0];
    const int last = plan.stages.back().replicas[0][0];
    const Cluster& cluster = problem.cluster;
    mixing += cluster.device_group(first) != cluster.device_group(last) ? 1 : 0;
  }
  EXPECT_GT(with_answer, 20);
  EXPECT_GT(mixing, 0);
  EXPECT_LT(mixing, with_answer);  // some answers use one GPU type alone
}

// Both rank orders are in the space only if they put ranks on different devices that are not all on
// one node which joins any two alike.
TEST(PooledStagesTest, OnlyOneOfRankOrdersThatMakeNoDifferenceIsTried) {
  int stages_first = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto mixed = MakeMixedProblem(Random(seed), Random(seed + 1000), 4);
    SearchProblem problem = mixed->Ask();
    const Cluster& cluster = problem.cluster;
    problem.choices.micro_batches = {1};
    problem.choices.recomputes = {Recompute::kNone};
    problem.choices.rank_orders = {kStagesFirstRankOrder, kDefaultRankOrder};
    const std::unique_ptr<PlanSpace> space = MakePooledStages(problem);
    EnumerateAll(*space);
    std::set<std::vector<std::vector<std::vector<int>>>> seen;
    for (size_t i = 0; i < space->size(); ++i) {
      Plan plan;
      try {
        plan = space->Make(i);
      } catch (const InputError&) {
        continue;
      }
      std::vector<std::vector<std::vector<int>>> devices;
      for (const Stage& stage : plan.stages) devices.push_back(stage.replicas);
      EXPECT_TRUE(seen.insert(devices).second) << space->Describe(i);
      if (plan.rank_order == kDefaultRankOrder) continue;
      ++stages_first;
      EXPECT_NE(cluster.device_group(devices.front()[0][0]),
                cluster.device_group(devices.back()[0][0]))
          << space->Describe(i);
    }
  }
  EXPECT_GT(stages_first, 0);
}

// If gradients are synchronised otherwise than by all-reduces, they cannot be sharded.
TEST(PooledStagesTest, ReplicasThatAgreeInOtherWaysAreFound) {
  const auto mixed = MakeMixedProblem(Random(1), Random(2), 2);
  SearchProblem problem = mixed->Ask();
  problem.given.gradient_sync.method = SyncMethod::kRing;
  problem.choices.micro_batches = {1};
  const std::unique_ptr<PlanSpace> space = MakePooledStages(problem);
  EnumerateAll(*space);
  int with_replicas = 0;
  for (size_t i = 0; i < space->size(); ++i) {
    try {
      const Plan plan = space->Make(i);
      EXPECT_EQ(plan.zero, 0) << space->Describe(i);
      with_replicas += plan.stages[0].replicas.size() > 1 ? 1 : 0;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(with_replicas, 0);
}

constexpr double kRounding = 1e-12;  // since bounds are quotients of sums

Bytes PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Bytes(int64_t{usage.ru_maxrss} << 10);
}

// Over this many pools there are billions of plans; all plans of one family at once would take
// gigabytes.
TEST(PooledStagesTest, ManyKindsOfGpuTakeLittleMemoryAndASmallBudgetFindsAPlan) {
  DecoderConfig config = DecoderOfFamily("llama");
  config.layers = 32;
  config.hidden = 1024;
  config.heads = config.kv_heads = 16;
  config.ffn = 4096;
  config.vocab = 8192;
  config.max_sequence = 1024;
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "decoder");
  std::string gpus = "a100-sxm4-80gb:4x8+v100-sxm2-32gb:4x8+h100-sxm:4x8+t4-16gb:4x8";
  for (const char* more : {"", "+l4-24gb:4x8"}) {
    gpus += more;
    const Cluster cluster = ParseCluster(gpus);
    const AnalyticalModel model;
    const MemoModel memo(model);
    SearchProblem problem{.workload = workload, .cluster = cluster, .model = memo, .given = {}};
    problem.given.global_batch = 64;
    problem.given.sequence = 1024;
    problem.given.precision = DType::kFp16;
    problem.choices.micro_batches = {1, 2};
    const Bytes before = PeakMemory();
    const std::unique_ptr<PlanSpace> space = MakePooledStages(problem);
    double least = 0;
    for (int step = 0; step < 20000 && space->BoundOfRest(); ++step) {
      const size_t size = space->size();
      EXPECT_GE(*space->BoundOfRest(), (1 - kRounding) * least) << gpus;
      least = *space->BoundOfRest();
      space->EnumerateMore();
      EXPECT_LE(space->size(), size + 1) << gpus;
    }
    EXPECT_GT(space->size(), 0u) << gpus;
    EXPECT_TRUE(space->BoundOfRest()) << gpus;
    const SearchResult result =
        SearchExhaustively(problem, *MakePooledStages(problem), {.budget = {.evaluations = 20}});
    ASSERT_EQ(result.plans.size(), 1u) << gpus;
    EXPECT_LE(result.evaluated, 20) << gpus;
    EXPECT_GT(result.bound, 0) << gpus;
    EXPECT_LE(result.bound, result.plans[0].score) << gpus;
    EXPECT_LT(PeakMemory() - before, Bytes(int64_t{256} << 20)) << gpus;
  }
}

}  // namespace
}  // namespace stagecraft
