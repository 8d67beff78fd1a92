// Tests the plans that no other beats in step time, cost and memory at once, against all plans one
// by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "search/candidate.h"
#include "search/pareto.h"
#include "search/plan_space.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

using Point = std::array<double, 3>;  // step, cost, memory

Point PointOf(const SearchProblem& problem, const Evaluation& evaluation) {
  return {evaluation.step_time.seconds(), CostOf(problem, evaluation),
          MemoryShare(evaluation.memory)};
}

bool Beats(const Point& a, const Point& b) {
  return a != b && a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2];
}

// The oracle, which evaluates every plan and compares every pair.
std::vector<Point> UnbeatenOfAll(const SearchProblem& problem, PlanSpace& space) {
  std::vector<Point> all;
  for (size_t i = 0; i < space.size(); ++i) {
    space.LeastMemory(i);  // must be asked for before Make()
    std::optional<Plan> plan = MakeCandidate(problem, space, i);
    if (!plan) continue;
    const RankedPlan ranked = PlanRanker(problem).Rank(std::move(*plan));
    if (ranked.evaluation.fits) all.push_back(PointOf(problem, ranked.evaluation));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Point> unbeaten;
  for (const Point& point : all) {
    const auto beats = [&](const Point& other) { return Beats(other, point); };
    if (std::none_of(all.begin(), all.end(), beats)) unbeaten.push_back(point);
  }
  return unbeaten;
}

std::vector<Point> PointsOf(const SearchProblem& problem, const SearchResult& result) {
  std::vector<Point> points;
  for (const RankedPlan& ranked : result.plans) {
    points.push_back(PointOf(problem, ranked.evaluation));
  }
  return points;
}

struct Tally {
  int problems = 0, several = 0, empty = 0;
  int64_t candidates = 0, evaluated = 0;
};

void Compare(const SearchProblem& problem, PlanSpace& space, uint64_t seed, Tally* tally) {
  EnumerateAll(space);
  const std::vector<Point> want = UnbeatenOfAll(problem, space);
  const SearchResult result = SearchPareto(problem, space, {});
  EXPECT_EQ(PointsOf(problem, result), want) << seed;
  EXPECT_EQ(result.is_optimal, !want.empty()) << seed;
  EXPECT_EQ(result.obstacle.empty(), !want.empty()) << seed;
  EXPECT_EQ(result.bound, want.empty() ? 0 : want[0][0]) << seed;
  ++tally->problems;
  tally->several += want.size() > 1 ? 1 : 0;
  tally->empty += want.empty() ? 1 : 0;
  tally->candidates += result.candidates;
  tally->evaluated += result.evaluated;
}

TEST(SearchParetoTest, FindsWhatNoneOfAllPlansBeats) {
  Tally tally;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    const auto small =
        MakeSmallProblem(Random(seed), seed % 8 == 7 ? 0.01 : 0.3 + 0.1 * (seed % 4));
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    problem.choices.context = {1};
    problem.choices.micro_batches = {1, 4};
    problem.choices.zeros = {1};
    if (seed % 4 != 0) problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
    if (seed % 2 == 0) problem.choices.device_counts = DeviceCounts::kHalves;
    if (seed % 3 == 0) problem.prices = {1.7};
    const std::unique_ptr<PlanSpace> space = MakeEqualStages(problem);
    Compare(problem, *space, seed, &tally);
  }
  EXPECT_EQ(tally.problems, 32);
  EXPECT_GT(tally.several, 25);
  EXPECT_GT(tally.empty, 1);
  EXPECT_LT(tally.evaluated, tally.candidates);
}

TEST(SearchParetoTest, FindsWhatNoneBeatsOnUnlikeGpus) {
  Tally tally;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto mixed = MakeMixedProblem(Random(seed), Random(seed + 1000), 0.6);
    const MemoModel memo(mixed->model);
    SearchProblem problem = mixed->Ask(memo);
    problem.choices.micro_batches = {1 + static_cast<int64_t>(seed % 2)};
    if (seed % 2 == 1) problem.prices = {0.8, 2.2};
    const std::unique_ptr<PlanSpace> space = MakePooledStages(problem);
    Compare(problem, *space, seed, &tally);
  }
  EXPECT_EQ(tally.problems, 20);
  EXPECT_GT(tally.several, 10);
  EXPECT_LT(tally.evaluated, tally.candidates);
}

TEST(SearchParetoTest, ABudgetLeavesAnHonestBound) {
  const auto small = MakeSmallProblem(Random(3), 0.6);
  const SearchProblem problem = small->Ask();
  const std::unique_ptr<PlanSpace> space = MakeEqualStages(problem);
  const SearchResult whole = SearchPareto(problem, *space, {});
  ASSERT_TRUE(whole.is_optimal);
  SearchOptions options;
  options.budget.evaluations = 3;
  const SearchResult part = SearchPareto(problem, *space, options);
  EXPECT_EQ(part.evaluated, 3);
  EXPECT_FALSE(part.is_optimal);
  EXPECT_LE(part.bound, whole.bound);
  const std::atomic<bool> stop = true;
  options.budget = {.stop = &stop};
  EXPECT_EQ(SearchPareto(problem, *space, options).evaluated, 0);
}

}  // namespace
}  // namespace stagecraft
