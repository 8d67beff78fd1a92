// Tests the explanation of an answer against what is found by looking at all plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "costmodel/scaled_model.h"
#include "search/candidate.h"
#include "search/exhaustive.h"
#include "search/mixing.h"
#include "search/plan_space.h"
#include "search/sensitivity.h"
#include "search/space_views.h"
#include "search/stage_times.h"
#include "tests/enumerated_plans.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The best score of all plans of the space at other speeds, with their layers split as before.
double BestThen(const SearchProblem& problem, const PlanSpace& space, const Speeds& speeds) {
  const ScaledModel scaled(problem.model, speeds);
  const MemoModel memo(scaled);
  const SearchProblem then = WithModel(problem, memo);
  double best = kInfinity;
  for (size_t i = 0; i < space.size(); ++i) {
    std::optional<Plan> plan = MakeCandidate(then, space, i);
    if (!plan) continue;
    const RankedPlan ranked = PlanRanker(then).Rank(std::move(*plan));
    if (ranked.evaluation.fits) best = std::min(best, ranked.score);
  }
  return best;
}

struct Tally {
  int answers = 0, changed = 0;
  int64_t candidates = 0, evaluated = 0;
};

void Compare(const SearchProblem& problem, PlanSpace& plans, uint64_t seed, Tally* tally) {
  const std::unique_ptr<PlanSpace> space = RememberBounds(plans);
  const SearchResult result = SearchExhaustively(problem, *space, {.top = 2});
  if (result.plans.empty()) return;
  // Greater changes than the usual ones, so that other plans become the best.
  const std::vector<SpeedChange> changes = {{"compute", 1.1, {.compute = 1.1}},
                                            {"links", 0.9, {.intra = 0.9, .inter = 0.9}},
                                            {"network", 0.05, {.inter = 0.05}},
                                            {"links", 0.3, {.intra = 0.3, .inter = 0.3}},
                                            {"compute", 10, {.compute = 10}}};
  const std::vector<ChangedAnswer> answers =
      FindSensitivity(problem, *space, result.plans[0], result.seen, changes, {});
  ASSERT_EQ(answers.size(), changes.size());
  EnumerateAll(*space);
  for (const ChangedAnswer& answer : answers) {
    const double best = answer.better ? answer.better->score : answer.old_score;
    EXPECT_EQ(best, BestThen(problem, *space, answer.change.speeds))
        << seed << " " << answer.change.what;
    EXPECT_TRUE(answer.is_optimal);
    EXPECT_GE(answer.Loss(), 0);
    ++tally->answers;
    tally->changed += answer.better ? 1 : 0;
    tally->candidates += result.candidates;
    tally->evaluated += answer.evaluated;
  }
}

TEST(FindSensitivityTest, FindsTheBestOfAllPlansThen) {
  Tally tally;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 0.4 + 0.1 * (seed % 4));
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    problem.objective = seed % 3 == 2 ? Objective::kCost : Objective::kStepTime;
    problem.choices.context = {1};
    problem.choices.micro_batches = {1, 4};
    problem.choices.zeros = {1, 3};
    problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
    if (seed % 3 == 2) problem.choices.device_counts = DeviceCounts::kHalves;
    if (seed % 6 == 2) problem.prices = {3.5};
    const std::unique_ptr<PlanSpace> space = MakeEqualStages(problem);
    Compare(problem, *space, seed, &tally);
  }
  EXPECT_GT(tally.answers, 30);
  EXPECT_GT(tally.changed, 3);
  EXPECT_LT(tally.changed, tally.answers);
  EXPECT_LT(tally.evaluated, tally.candidates / 2);
}

// Pass orders that depend on costs are made anew.
TEST(FindSensitivityTest, OrdersThatDependOnCostsAreNotBoundedByTheirOldTimes) {
  Tally tally;
  for (uint64_t seed = 0; seed < 2; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 1);
    const MemoModel memo(small->model);
    SearchProblem problem = small->Ask(memo);
    problem.choices.context = {1};
    problem.choices.tensor = {1, 2};
    problem.choices.micro_batches = {1};
    problem.choices.zeros = {1};
    problem.choices.recomputes = {Recompute::kNone};
    problem.choices.schedules = {PipelineSchedule::kList, PipelineSchedule::kZeroBubbleAuto,
                                 PipelineSchedule::kOneForwardOneBackward};
    const std::unique_ptr<PlanSpace> space = MakeEqualStages(problem);
    Compare(problem, *space, seed, &tally);
  }
  EXPECT_GT(tally.answers, 0);
}

TEST(FindSensitivityTest, ABudgetLeavesChangesOut) {
  const auto small = MakeSmallProblem(Random(3), 0.6);
  const SearchProblem problem = small->Ask();
  const std::unique_ptr<PlanSpace> space = MakeEqualStages(problem);
  const SearchResult result = SearchExhaustively(problem, *space, {});
  const std::vector<SpeedChange> changes = UsualChanges(problem.cluster);
  const auto find = [&](const Budget& budget) {
    return FindSensitivity(problem, *space, result.plans.at(0), result.seen, changes, budget);
  };
  EXPECT_EQ(find({.evaluations = 1}).size(), 1u);
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(find({.stop = &stop}).empty());
}

// A problem with the GPUs of two small problems.
struct MixedProblem {
  explicit MixedProblem(uint64_t seed)
      : small(MakeMixedProblem(Random(seed), Random(seed + 1000), 0.6)) {}

  SearchProblem Ask(Objective objective) const {
    SearchProblem problem = small->Ask(memo);
    problem.objective = objective;
    problem.choices.micro_batches = {1, 2};
    return problem;
  }

  std::unique_ptr<SmallProblem> small;
  MemoModel memo{small->model};
};

TEST(FindSensitivityTest, OnUnlikeGpusPlansKeepTheirSplit) {
  Tally tally;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const MixedProblem mixed(seed);
    const SearchProblem problem =
        mixed.Ask(seed % 2 == 0 ? Objective::kStepTime : Objective::kCost);
    const std::unique_ptr<PlanSpace> space = MakePooledStages(problem);
    Compare(problem, *space, seed, &tally);
  }
  EXPECT_GT(tally.answers, 10);
}

// A problem with few enough plans that every one can be simulated.
SearchProblem AskFew(const MixedProblem& mixed, Objective objective) {
  SearchProblem problem = mixed.Ask(objective);
  problem.choices.context = {1};
  problem.choices.zeros = {0, 1};
  problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward};
  return problem;
}

TEST(CompareKindsTest, TheBestOfEveryChoiceOfKindsIsFound) {
  int worth = 0, alone = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const MixedProblem mixed(seed);
    const SearchProblem problem =
        AskFew(mixed, seed % 3 == 0 ? Objective::kCost : Objective::kStepTime);
    const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
    EnumerateAll(*space);
    const Mixing mixing = CompareKinds(problem, {});
    std::map<std::set<size_t>, double> best;
    for (size_t i = 0; i < space->size(); ++i) {
      std::set<size_t> groups;
      const std::vector<int> devices = space->GroupDevices(i);
      for (size_t g = 0; g < devices.size(); ++g) {
        if (devices[g] > 0) groups.insert(g);
      }
      double& least = best.try_emplace(groups, kInfinity).first->second;
      std::optional<Plan> plan = MakeCandidate(problem, *space, i);
      if (!plan) continue;
      const RankedPlan ranked = PlanRanker(problem).Rank(std::move(*plan));
      if (ranked.evaluation.fits) least = std::min(least, ranked.score);
    }
    if (mixing.kinds.size() < 2) continue;  // both problems have the same GPU type
    ASSERT_EQ(mixing.answers.size(), best.size()) << seed;
    for (const KindsAnswer& answer : mixing.answers) {
      const double found = answer.best ? answer.best->score : kInfinity;
      EXPECT_EQ(found, (best[{answer.kinds.begin(), answer.kinds.end()}])) << seed;
      EXPECT_TRUE(answer.is_optimal);
    }
    const KindsAnswer* first = mixing.Best();
    if (first == nullptr) continue;
    (first->kinds.size() > 1 ? worth : alone) += 1;
    const KindsAnswer* more = mixing.WithMore();
    EXPECT_TRUE(more == nullptr || more->best->score >= first->best->score);
  }
  EXPECT_GT(worth, 0);
  EXPECT_GT(alone, 0);
}

TEST(SearchProblemTest, PricesAreOneForEveryGroupAndAboveZero) {
  const MixedProblem mixed(0);
  SearchProblem problem = mixed.Ask(Objective::kCost);
  EXPECT_TRUE(FindErrors(problem).empty());
  problem.prices = {2.5, 1};
  EXPECT_TRUE(FindErrors(problem).empty());
  EXPECT_EQ(CostRate(problem, std::vector<int>{2, 4}), 9.0 / 3600);
  problem.prices = {2.5};
  EXPECT_EQ(FindErrors(problem).at(0), "prices: got 1, want one for each of the 2 groups of nodes");
  problem.prices = {2.5, 0};
  EXPECT_EQ(FindErrors(problem).at(0), "prices: got 0, want more than 0");
}

// Blocks are split evenly over two stages, or the stage with the head has fewer.
TEST(StageTimesTest, StagesAreMeasuredAndCutOtherwise) {
  const auto small = MakeSmallProblem(Random(0), 2);
  const SearchProblem problem = small->Ask();
  PlanDegrees degrees = small->given;
  degrees.pipeline = 2;
  degrees.tensor = 2;
  const Plan even = MakePlan(degrees, problem.workload, problem.cluster);
  const SimulatedStep step = SimulateStep(even, problem.workload, problem.cluster, problem.model);
  const std::vector<StageTime> stages = MeasureStages(step, problem.workload);
  ASSERT_EQ(stages.size(), 2u);
  const int blocks = problem.workload.layer_count() - 2;
  EXPECT_EQ(stages[0].blocks, blocks / 2);
  EXPECT_EQ(stages[0].blocks + stages[1].blocks, blocks);
  const auto micro_batches =
      even.micro_batches() / static_cast<int64_t>(even.stages[0].replicas.size());
  for (const StageTime& stage : stages) {
    EXPECT_GT(stage.forward, Duration());
    EXPECT_GT(stage.backward, stage.forward);
    EXPECT_NEAR((micro_batches * (stage.forward + stage.backward)).seconds(), stage.busy.seconds(),
                1e-7);
    EXPECT_LE(stage.busy, step.evaluation.step_time);
  }
  EXPECT_GT(Imbalance(stages), 1);
  EXPECT_FALSE(SplitEvenly(even, problem.workload, problem.cluster).has_value());

  Plan skewed = even;
  skewed.stages[0].chunks[0].count += 1;
  skewed.stages[1].chunks[0].first += 1;
  skewed.stages[1].chunks[0].count -= 1;
  const std::optional<Plan> again = SplitEvenly(skewed, problem.workload, problem.cluster);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->stages[0].chunks, even.stages[0].chunks);
  EXPECT_EQ(again->stages[1].chunks, even.stages[1].chunks);

  degrees.balance_head = true;
  const Plan balanced = MakePlan(degrees, problem.workload, problem.cluster);
  const std::optional<Plan> for_head = SplitForHead(even, problem.workload, problem.cluster);
  if (balanced.stages[0].chunks == even.stages[0].chunks) {
    EXPECT_FALSE(for_head.has_value());
  } else {
    ASSERT_TRUE(for_head.has_value());
    EXPECT_EQ(for_head->stages[0].chunks, balanced.stages[0].chunks);
  }
}

}  // namespace
}  // namespace stagecraft
