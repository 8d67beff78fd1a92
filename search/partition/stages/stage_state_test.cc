#include "search/partition/stages/stage_state.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/random.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"
#include "search/partition/stages/stage_mcmc.h"
#include "search/partition/stages/stage_moves.h"
#include "search/partition/stages/stage_trials.h"

namespace stagecraft {
namespace {

TEST(StageStateTest, StartsWithTheScoreOfItsPlan) {
  const StageProblem problem = DrawStageProblem(Random(1), 3, 6);
  const StageCosts costs(problem);
  StageState state(costs, OneStage(problem));
  EXPECT_EQ(state.Score(), StageScorer(costs).Score(OneStage(problem)));
}

TEST(StageStateTest, ScoreAfterAnyChangeIsThatOfAnEvaluationFromScratch) {
  int changes = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StageProblem problem = DrawStageProblem(Random(seed), 3, 40);
    const StageCosts costs(problem);
    StageScorer scorer(costs);
    const std::vector<StageReplicas> choices = ReplicaChoices(problem);
    Random random = Random(seed).Child("moves", 0);
    StageState state(costs, OneStage(problem));
    for (int step = 0; step < 300; ++step) {
      const StagePlan before = state.plan();
      if (!Apply(DrawMove(state, choices, random), state)) {
        ASSERT_EQ(state.plan(), before);
        continue;
      }
      ++changes;
      ASSERT_TRUE(FindErrors(problem, state.plan()).empty())
          << FindErrors(problem, state.plan()).front();
      ASSERT_EQ(state.Score(), scorer.Score(state.plan()));
      if (random.Uniform() < 0.4) {
        state.Undo();
        ASSERT_EQ(state.plan(), before);
        ASSERT_EQ(state.Score(), scorer.Score(before));
      } else {
        state.Keep();
      }
    }
  }
  EXPECT_GT(changes, 3000);
}

TEST(StageMcmcTest, SpendsItsBudgetAndReturnsAPlanWithTheScoreThatItClaims) {
  const StageProblem problem = DrawStageProblem(Random(3), 3, 20);
  StageTrials trials({.evaluations = 500});
  SearchByMcmc(problem, {}, trials);
  EXPECT_EQ(trials.evaluations(), 500);
  EXPECT_TRUE(FindErrors(problem, trials.best()).empty());
  const StageCosts costs(problem);
  EXPECT_EQ(StageScorer(costs).Score(trials.best()), trials.best_score());
  for (size_t point = 1; point < trials.curve().size(); ++point) {
    EXPECT_LT(trials.curve()[point].score, trials.curve()[point - 1].score);
  }
}

TEST(StageMcmcTest, SameSeedGivesTheSamePlan) {
  const StageProblem problem = DrawStageProblem(Random(5), 3, 30);
  StageTrials first({.evaluations = 2000});
  StageTrials second({.evaluations = 2000});
  SearchByMcmc(problem, {.seed = 9}, first);
  SearchByMcmc(problem, {.seed = 9}, second);
  EXPECT_EQ(first.best(), second.best());
}

TEST(StageMcmcTest, RepairNeverMakesAPlanWorse) {
  for (int seed = 1; seed <= 30; ++seed) {
    const StageProblem problem = DrawStageProblem(Random(seed), 3, 20);
    const StageCosts costs(problem);
    Random random(seed);
    const StagePlan drawn = DrawStagePlan(problem, MostStages(problem), random);
    ASSERT_TRUE(FindErrors(problem, drawn).empty());
    StageTrials trials({});
    const StagePlan repaired = RepairStagePlan(problem, drawn, 1000, trials);
    EXPECT_LE(StageScorer(costs).Score(repaired), StageScorer(costs).Score(drawn));
  }
}

}  // namespace
}  // namespace stagecraft
