// Searches by teams: with any number of ranks they end with what one process ends with, to the bit.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "proto/plan.pb.h"
#include "search/budget_watch.h"
#include "search/checker.h"
#include "search/divided_work.h"
#include "search/exhaustive.h"
#include "search/explanation.h"
#include "search/packed_evaluation.h"
#include "search/packing.h"
#include "search/pareto.h"
#include "search/plan_space.h"
#include "search/plans/plan_search.h"
#include "search/remedy.h"
#include "search/space_views.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/make_plan.h"
#include "sim/plan/plan_proto.h"
#include "sim/testing/mixture_testing.h"
#include "tests/small_problems.h"
#include "tests/thread_team.h"

namespace stagecraft {
namespace {

void ExpectSame(const Evaluation& got, const Evaluation& want) {
  EXPECT_EQ(got.step_time, want.step_time);
  EXPECT_EQ(got.step_time_low, want.step_time_low);
  EXPECT_EQ(got.step_time_high, want.step_time_high);
  EXPECT_EQ(got.unshared_time, want.unshared_time);
  EXPECT_EQ(got.profile, want.profile);
  EXPECT_EQ(got.memory, want.memory);
  EXPECT_EQ(got.fits, want.fits);
  EXPECT_EQ(got.tokens, want.tokens);
  EXPECT_EQ(got.samples, want.samples);
  EXPECT_EQ(got.devices, want.devices);
  EXPECT_EQ(got.group_devices, want.group_devices);
  EXPECT_EQ(got.model_flops.count(), want.model_flops.count());
  EXPECT_EQ(got.hardware_flops.count(), want.hardware_flops.count());
  EXPECT_EQ(got.peak.flop_per_s(), want.peak.flop_per_s());
  ASSERT_EQ(got.steady.has_value(), want.steady.has_value());
  if (!got.steady) return;
  EXPECT_EQ(got.steady->step, want.steady->step);
  EXPECT_EQ(got.steady->drift, want.steady->drift);
  EXPECT_EQ(got.steady->stretch.Total(), want.steady->stretch.Total());
  ASSERT_EQ(got.steady->stages.size(), want.steady->stages.size());
  for (size_t i = 0; i < want.steady->stages.size(); ++i) {
    EXPECT_EQ(got.steady->stages[i].staleness, want.steady->stages[i].staleness);
  }
}

void ExpectSame(const RankedPlan& got, const RankedPlan& want) {
  EXPECT_EQ(ToProto(got.plan).SerializeAsString(), ToProto(want.plan).SerializeAsString());
  EXPECT_EQ(got.score, want.score);
  ExpectSame(got.evaluation, want.evaluation);
}

// Compares everything but the seconds of the curve.
void ExpectSame(const SearchResult& got, const SearchResult& want) {
  ASSERT_EQ(got.plans.size(), want.plans.size());
  for (size_t i = 0; i < want.plans.size(); ++i) ExpectSame(got.plans[i], want.plans[i]);
  EXPECT_EQ(got.space, want.space);
  EXPECT_EQ(got.candidates, want.candidates);
  EXPECT_EQ(got.evaluated, want.evaluated);
  EXPECT_EQ(got.feasible, want.feasible);
  EXPECT_EQ(got.is_optimal, want.is_optimal);
  EXPECT_EQ(got.bound, want.bound);
  EXPECT_EQ(got.obstacle, want.obstacle);
  EXPECT_EQ(got.refusal, want.refusal);
  ASSERT_EQ(got.curve.size(), want.curve.size());
  for (size_t i = 0; i < want.curve.size(); ++i) {
    EXPECT_EQ(got.curve[i].evaluations, want.curve[i].evaluations);
    EXPECT_EQ(got.curve[i].score, want.curve[i].score);
  }
  ASSERT_EQ(got.seen.size(), want.seen.size());
  for (size_t i = 0; i < want.seen.size(); ++i) {
    EXPECT_EQ(got.seen[i].index, want.seen[i].index);
    EXPECT_EQ(got.seen[i].is_fixed, want.seen[i].is_fixed);
    EXPECT_EQ(got.seen[i].fits, want.seen[i].fits);
    EXPECT_EQ(got.seen[i].unshared_time, want.seen[i].unshared_time);
  }
}

// A small problem; every third one has several GPU types, every sixth one no plan that fits.
std::unique_ptr<SmallProblem> Drawn(uint64_t seed) {
  if (seed % 3 == 2) return MakeMixedProblem(Random(seed));
  return MakeSmallProblem(Random(seed), seed % 6 == 4 ? 0.01 : 0.4 + 0.1 * (seed % 4));
}

TEST(SearchTeamTest, ProvesWhatOneProcessProves) {
  int with_plans = 0, cut_short = 0;
  for (uint64_t seed = 0; seed < 18; ++seed) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    if (seed % 5 == 0) {
      problem.choices.schedules = {PipelineSchedule::kInterleaved,
                                   PipelineSchedule::kZeroBubbleAuto,
                                   PipelineSchedule::kPipeDream2bw};
    }
    if (seed % 5 == 1) problem.objective = Objective::kMemory;
    const int64_t budget = seed % 2 == 1 ? 2 : 0;
    const auto search = [&](Team* team) {
      const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
      return SearchExhaustively(problem, *space,
                                {.top = 3, .budget = {.evaluations = budget, .team = team}});
    };
    const SearchResult want = search(nullptr);
    with_plans += want.plans.empty() ? 0 : 1;
    cut_short += want.is_optimal || want.plans.empty() ? 0 : 1;
    for (const int size : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", ranks " << size);
      ThreadTeam::Run(size, [&](Team& team) {
        const SearchResult got = search(&team);
        ExpectSame(got, want);
        for (const RankedPlan& ranked : got.plans) {
          EXPECT_EQ(FindErrors(problem, ranked), std::vector<std::string>());
        }
      });
    }
  }
  EXPECT_GT(with_plans, 10);
  EXPECT_LT(with_plans, 18);
  EXPECT_GT(cut_short, 1);
}

TEST(SearchTeamTest, FindsTheParetoFrontOfOneProcess) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    problem.choices.context = {1};
    problem.choices.device_counts = DeviceCounts::kHalves;
    const auto search = [&](Team* team) {
      const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
      return SearchPareto(problem, *space, {.budget = {.team = team}});
    };
    const SearchResult want = search(nullptr);
    SCOPED_TRACE(seed);
    ThreadTeam::Run(3, [&](Team& team) { ExpectSame(search(&team), want); });
  }
}

TEST(SearchTeamTest, EveryAlgorithmFindsWhatItFindsAlone) {
  for (const uint64_t seed : {2, 3}) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    const SearchProblem problem = small->Ask(memo);
    for (int i = 0; i < kPlanAlgorithmCount; ++i) {
      const auto search = [&](Team* team) {
        const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
        PlanSearchOptions options;
        options.search = {.top = 2, .budget = {.evaluations = 150, .team = team}};
        return SearchPlans(static_cast<PlanAlgorithm>(i), problem, *space, options).result;
      };
      SCOPED_TRACE(Name(static_cast<PlanAlgorithm>(i)));
      const SearchResult want = search(nullptr);
      ThreadTeam::Run(3, [&](Team& team) { ExpectSame(search(&team), want); });
    }
  }
}

TEST(SearchTeamTest, ExplainsLikeOneProcess) {
  for (const uint64_t seed : {2, 3}) {
    const auto small = Drawn(seed);
    const MemoModel memo(small->model);
    const SearchProblem problem = small->Ask(memo);
    const auto explain = [&](Team* team) {
      const std::unique_ptr<PlanSpace> plans = MakePlanSpace(problem);
      const std::unique_ptr<PlanSpace> space = RememberBounds(*plans);
      const Budget budget{.evaluations = 3000, .team = team};
      const SearchResult result = SearchExhaustively(problem, *space, {.top = 2, .budget = budget});
      return ExplainSearch(problem, *space, result.plans, result.seen, budget);
    };
    const SearchExplanation want = explain(nullptr);
    ASSERT_FALSE(want.sensitivity.empty());
    ASSERT_EQ(want.mixing.has_value(), seed == 2);
    ThreadTeam::Run(4, [&](Team& team) {
      const SearchExplanation got = explain(&team);
      EXPECT_EQ(got.evaluated, want.evaluated);
      EXPECT_EQ(got.is_cut_short, want.is_cut_short);
      ASSERT_EQ(got.sensitivity.size(), want.sensitivity.size());
      for (size_t i = 0; i < want.sensitivity.size(); ++i) {
        const ChangedAnswer& a = got.sensitivity[i];
        const ChangedAnswer& b = want.sensitivity[i];
        EXPECT_EQ(a.old_score, b.old_score);
        EXPECT_EQ(a.is_optimal, b.is_optimal);
        EXPECT_EQ(a.evaluated, b.evaluated);
        ASSERT_EQ(a.better.has_value(), b.better.has_value());
        if (b.better) ExpectSame(*a.better, *b.better);
      }
      if (!want.mixing) return;
      ASSERT_EQ(got.mixing->answers.size(), want.mixing->answers.size());
      for (size_t i = 0; i < want.mixing->answers.size(); ++i) {
        const KindsAnswer& a = got.mixing->answers[i];
        const KindsAnswer& b = want.mixing->answers[i];
        EXPECT_EQ(a.is_optimal, b.is_optimal);
        ASSERT_EQ(a.best.has_value(), b.best.has_value());
        if (b.best) ExpectSame(*a.best, *b.best);
      }
    });
  }
}

TEST(SearchTeamTest, FindsTheRemediesOfOneProcess) {
  const auto small = MakeSmallProblem(Random(4), 0.01);
  const MemoModel memo(small->model);
  SearchProblem problem = small->Ask(memo);
  problem.choices.tensor = {1};
  const std::vector<Remedy> want = FindRemedies(problem);
  ThreadTeam::Run(2, [&](Team& team) {
    const std::vector<Remedy> got = FindRemedies(problem, &team);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].flags, want[i].flags);
      EXPECT_EQ(got[i].peak, want[i].peak);
    }
  });
}

TEST(SearchTeamTest, EveryRankEvaluatesItsShare) {
  std::atomic<int> computed = 0;
  ThreadTeam::Run(3, [&](Team& team) {
    const Budget budget{.team = &team};
    BudgetWatch watch(budget);
    for (const size_t count : {0, 1, 2, 3, 64}) {
      std::atomic<int> own = 0;
      const std::vector<std::string> all = ComputeTogether<std::string>(
          watch, count,
          [&](size_t item) {
            ++own;
            return std::to_string(item);
          },
          [](size_t item, Hash& hash) { hash.Add(static_cast<int64_t>(item)); });
      ASSERT_EQ(all.size(), count);
      for (size_t item = 0; item < count; ++item) EXPECT_EQ(all[item], std::to_string(item));
      EXPECT_LE(own, static_cast<int>(count + 2) / 3);
      computed += own;
    }
  });
  EXPECT_EQ(computed, 0 + 1 + 2 + 3 + 64);
}

// All ranks return the same answer, with a bound that holds.
TEST(SearchTeamTest, EndsForAllIfOneRankIsToldToStopOrIsLate) {
  const auto small = MakeSmallProblem(Random(3), 0.6);
  const MemoModel memo(small->model);
  const SearchProblem problem = small->Ask(memo);
  const std::unique_ptr<PlanSpace> whole = MakePlanSpace(problem);
  const SearchResult proven = SearchExhaustively(problem, *whole, {});
  for (const bool is_stopped : {true, false}) {
    std::vector<SearchResult> results(3);
    ThreadTeam::Run(3, [&](Team& team) {
      const std::atomic<bool> stop = is_stopped && team.rank() == 2;
      Budget budget{.stop = &stop, .team = &team};
      if (!is_stopped && team.rank() == 1) budget.seconds = 1e-9;
      const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
      results[static_cast<size_t>(team.rank())] =
          SearchExhaustively(problem, *space, {.top = 2, .budget = budget});
    });
    for (const SearchResult& result : results) {
      ExpectSame(result, results[0]);
      EXPECT_LT(result.evaluated, proven.evaluated);
      EXPECT_LE(result.bound, proven.plans.at(0).score);
      EXPECT_FALSE(result.is_optimal);
    }
  }
}

TEST(SearchTeamTest, RanksThatAreNotAlikeAreToldSo) {
  const auto small = MakeSmallProblem(Random(3), 0.6);
  const auto search = [&](Team& team) {
    SearchProblem problem = small->Ask();
    if (team.rank() == 2) problem.given.global_batch *= 2;
    const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
    SearchExhaustively(problem, *space, {.budget = {.team = &team}});
  };
  try {
    ThreadTeam::Run(3, search);
    FAIL() << "no rank has noticed";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "rank 2 does not search what rank 0 does: want the same program, the same files "
                 "and one type of processor for all ranks");
  }
}

TEST(PackedEvaluationTest, ComesBackAsItWas) {
  const Workload workload = MakeMixtureOfExperts(8);
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  const AnalyticalModel model;
  for (const PipelineSchedule schedule :
       {PipelineSchedule::kInterleaved, PipelineSchedule::kPipeDream2bw}) {
    PlanDegrees degrees;
    degrees.pipeline = 4;
    degrees.schedule = schedule;
    degrees.chunks = schedule == PipelineSchedule::kInterleaved ? 2 : 1;
    degrees.global_batch = 32;
    degrees.sequence = 512;
    const Plan plan = MakePlan(degrees, workload, cluster);
    RankedPlan ranked{plan, SimulateStep(plan, workload, cluster, model).evaluation, 1.5};
    ASSERT_EQ(ranked.evaluation.steady.has_value(), schedule == PipelineSchedule::kPipeDream2bw);
    Packer packer;
    packer(std::optional(ranked));
    const std::string bytes = packer.Take();
    Unpacker unpacker(bytes);
    std::optional<RankedPlan> back;
    unpacker(back);
    EXPECT_TRUE(unpacker.is_at_end());
    EXPECT_EQ(back->score, 1.5);
    EXPECT_EQ(back->plan.schedule, schedule);
    EXPECT_TRUE(back->plan.stages.empty());
    ExpectSame(back->evaluation, ranked.evaluation);
  }
}

}  // namespace
}  // namespace stagecraft
