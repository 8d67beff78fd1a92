#include "search/partition/stages/stage_comparison.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/statistics.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/oracle_gaps.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_policy.h"

namespace stagecraft {
namespace {

// The goal is a median below 3 % with 5,000 evaluations; stage_oracle runs all problems.
constexpr double kMostMedianGap = 0.03;
constexpr int kInstances = 9;

std::vector<StageRun> RunAll(const StageProblem& problem, const StageComparison& comparison) {
  std::vector<StageRun> runs;
  for (const StageAlgorithm algorithm : AllStageAlgorithms()) {
    runs.push_back(RunStageAlgorithm(algorithm, problem, comparison));
  }
  return runs;
}

TEST(StageComparisonTest, MedianGapsToTheBestOfAllPlansAreBelowThreePercent) {
  std::vector<StageProblem> problems;
  std::vector<double> least;
  for (int seed = 1; seed <= kInstances; ++seed) {
    problems.push_back(OracleProblem(seed));
    least.push_back(EveryStagePlan(problems.back()).LeastScore());
  }
  for (const StageAlgorithm algorithm :
       {StageAlgorithm::kMcmc, StageAlgorithm::kGradient, StageAlgorithm::kPolicy}) {
    std::vector<double> gaps;
    for (int p = 0; p < kInstances; ++p) {
      gaps.push_back(OracleGap(algorithm, problems[p], least[p], p + 1));
      EXPECT_GE(gaps.back(), 0) << NameOf(algorithm) << " beats all plans, seed " << p + 1;
    }
    EXPECT_LT(NearestRankQuantile(gaps, 0.5), kMostMedianGap) << NameOf(algorithm);
  }
}

TEST(StageComparisonTest, EveryAlgorithmSpendsTheSameBudgetAndKeepsItsPromise) {
  const StageProblem problem = DrawStageProblem(Random(21), 12, 12);
  const StageCosts costs(problem);
  StageScorer scorer(costs);
  const std::vector<StageRun> runs =
      RunAll(problem, {.budget = {.evaluations = 300}, .seed = 2, .policy_width = 8});
  ASSERT_EQ(runs.size(), AllStageAlgorithms().size());
  for (const StageRun& run : runs) {
    SCOPED_TRACE(NameOf(run.algorithm));
    EXPECT_EQ(run.evaluations, 300);
    EXPECT_TRUE(FindErrors(problem, run.plan).empty());
    EXPECT_EQ(run.score, scorer.Score(run.plan));
    ASSERT_FALSE(run.curve.empty());
    EXPECT_EQ(run.curve.back().score, run.score);
    EXPECT_LE(run.curve.back().evaluations, run.evaluations);
  }
}

TEST(StageComparisonTest, APolicyThatHasLearnedNothingIsTunedAsOneFromScratchLearns) {
  const StageProblem problem = DrawStageProblem(Random(23), 10, 10);
  const StageComparison comparison{.budget = {.evaluations = 200}, .seed = 4, .policy_width = 8};
  StagePolicy policy({.width = 8}, comparison.seed);
  const StageRun tuned = TuneStagePolicy(problem, comparison, policy);
  EXPECT_EQ(tuned.plan, RunStageAlgorithm(StageAlgorithm::kPolicy, problem, comparison).plan);
  // The policy has learned since then, and draws other plans.
  const StageRun again = TuneStagePolicy(problem, comparison, policy);
  EXPECT_NE(again.curve.front().score, tuned.curve.front().score);
}

// The search by gradients evaluates one plan to compare with; the other algorithms evaluate none.
TEST(StageComparisonTest, NoAlgorithmGoesOnIfStoppedBeforehand) {
  const StageProblem problem = DrawStageProblem(Random(24), 10, 10);
  const std::atomic<bool> stop = true;
  for (const StageRun& run :
       RunAll(problem, {.budget = {.evaluations = 500, .stop = &stop}, .policy_width = 8})) {
    EXPECT_LE(run.evaluations, 1) << NameOf(run.algorithm);
  }
}

// The budget would last for centuries.
TEST(StageComparisonTest, AnotherThreadMayStopEveryAlgorithm) {
  const StageProblem problem = DrawStageProblem(Random(25), 12, 12);
  for (const StageAlgorithm algorithm : AllStageAlgorithms()) {
    SCOPED_TRACE(NameOf(algorithm));
    std::atomic<bool> stop = false;
    std::jthread other([&] { stop = true; });
    const StageRun run = RunStageAlgorithm(
        algorithm, problem, {.budget = {.seconds = 1e10, .stop = &stop}, .policy_width = 8});
    if (run.plan.stages() == 0) continue;
    EXPECT_TRUE(FindErrors(problem, run.plan).empty());
  }
}

TEST(StageComparisonTest, SameSeedGivesTheSamePlans) {
  const StageProblem problem = DrawStageProblem(Random(22), 10, 10);
  const StageComparison comparison{.budget = {.evaluations = 200}, .seed = 3, .policy_width = 8};
  const std::vector<StageRun> first = RunAll(problem, comparison);
  const std::vector<StageRun> second = RunAll(problem, comparison);
  for (size_t run = 0; run < first.size(); ++run) EXPECT_EQ(first[run].plan, second[run].plan);
}

}  // namespace
}  // namespace stagecraft
