#include "search/partition/stages/stage_policy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"
#include "search/partition/stages/stage_ppo.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {
namespace {

constexpr StagePolicyShape kNarrow{.width = 6};
constexpr StagePolicyShape kNarrowDirected{.width = 6, .is_directed = true};

StagePlan PlanOf(const PolicyGraph& graph, const PolicyBatch& batch, int plan) {
  std::vector<StageReplicas> replicas;
  for (const int choice : batch.choices[plan]) replicas.push_back(graph.choices()[choice]);
  return PlanFromCuts(batch.order, batch.ends[plan], replicas);
}

TEST(StagePolicyTest, EveryPlanThatItDrawsIsValid) {
  for (int seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StageProblem problem = DrawStageProblem(Random(seed), 3, 15);
    const PolicyGraph graph(problem);
    StagePolicy policy(seed % 2 == 0 ? kNarrow : kNarrowDirected, seed);
    Random random(seed);
    const std::vector<int> order = DrawOrder(problem.graph.dag, random);
    const PolicyBatch batch = policy.Draw(graph, order, 1 + seed % MostStages(problem), 16, random);
    for (int plan = 0; plan < batch.plans(); ++plan) {
      const StagePlan drawn = PlanOf(graph, batch, plan);
      ASSERT_EQ(drawn.stages(), batch.stages[plan]);
      ASSERT_TRUE(FindErrors(problem, drawn).empty()) << FindErrors(problem, drawn).front();
    }
  }
}

TEST(StagePolicyTest, ProbabilitiesOfAllPlansOfTwoStagesSumToOne) {
  StageProblem problem = DrawStageProblem(Random(4), 3, 3);
  problem.kinds = {{1, 1}, {1, 2}};
  const PolicyGraph graph(problem);
  StagePolicy policy(kNarrow, 1);
  PolicyBatch all{problem.graph.dag.order, {}, {}, {}};
  for (const int only : {0, 1}) {
    for (const int cut : {1, 2}) {
      all.stages.push_back(2);
      all.ends.push_back({cut, 3});
      all.choices.push_back({only, 1 - only});
    }
  }
  Tape tape;
  const PolicyDecisions decisions = policy.Decisions(tape, graph, all);
  double sum = 0;
  for (int plan = 0; plan < all.plans(); ++plan) {
    sum += std::exp(tape.value(decisions.log_probability).row(plan).sum());
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(StagePolicyTest, GradientsOfEveryParameterAreThoseOfFiniteDifferences) {
  const StageProblem problem = DrawStageProblem(Random(9), 6, 6);
  const PolicyGraph graph(problem);
  StagePolicy policy({.width = 3, .is_directed = true}, 1);
  Random random(5);
  const PolicyBatch batch =
      policy.Draw(graph, problem.graph.dag.order, MostStages(problem), 4, random);
  const auto sum = [&](Tape& tape) {
    const PolicyDecisions decisions = policy.Decisions(tape, graph, batch);
    return Add(tape, Sum(tape, decisions.log_probability), Sum(tape, decisions.entropy));
  };
  Tape tape;
  tape.Backward(sum(tape));
  constexpr double kStep = 1e-6;
  for (Parameter* parameter : policy.parameters().all()) {
    // Only the first and the last entry of each parameter are tested.
    for (const Eigen::Index entry : {Eigen::Index{0}, parameter->value.size() - 1}) {
      const double value = parameter->value(entry);
      double sums[2];
      for (int side = 0; side < 2; ++side) {
        parameter->value(entry) = value + (side == 0 ? kStep : -kStep);
        Tape again;
        sums[side] = again.value(sum(again))(0, 0);
      }
      parameter->value(entry) = value;
      const double gradient = parameter->gradient(entry);
      EXPECT_NEAR(gradient, (sums[0] - sums[1]) / (2 * kStep),
                  1e-6 * std::max(1.0, std::abs(gradient)));
    }
  }
}

TEST(StagePolicyTest, WhatWasWrittenDrawsTheSamePlans) {
  const StageProblem problem = DrawStageProblem(Random(7), 8, 8);
  const PolicyGraph graph(problem);
  StagePolicy policy(kNarrowDirected, 3);
  StageTrials trials({.evaluations = 200});
  SearchByPolicy(problem, {}, policy, trials);
  StagePolicy read = StagePolicy::Read(policy.Write(), "policy.txt");
  EXPECT_EQ(read.shape(), policy.shape());
  Random first(1);
  Random second(1);
  const PolicyBatch from_written =
      policy.Draw(graph, problem.graph.dag.order, MostStages(problem), 8, first);
  const PolicyBatch from_read =
      read.Draw(graph, problem.graph.dag.order, MostStages(problem), 8, second);
  EXPECT_EQ(from_written.ends, from_read.ends);
  EXPECT_EQ(from_written.choices, from_read.choices);
}

TEST(StagePolicyTest, OtherTextIsRefused) {
  EXPECT_THROW(StagePolicy::Read("", "policy.txt"), InputError);
  EXPECT_THROW(StagePolicy::Read("stage-policy-2 width 4 directed\n", "policy.txt"), InputError);
  EXPECT_THROW(StagePolicy::Read("stage-policy-1 width 0 directed\n", "policy.txt"), InputError);
  EXPECT_THROW(StagePolicy::Read("stage-policy-1 width 4 sideways\n", "policy.txt"), InputError);
  const std::string text = StagePolicy(kNarrow, 1).Write();
  EXPECT_THROW(StagePolicy::Read(text.substr(0, text.size() / 2), "policy.txt"), InputError);
}

// Returns the mean logarithm of the scores of plans that a policy draws; less is better.
double MeanLogScore(StagePolicy& policy, const StageProblem& problem) {
  const PolicyGraph graph(problem);
  StageScorer scorer(graph.costs());
  Random random(1);
  const PolicyBatch batch =
      policy.Draw(graph, problem.graph.dag.order, MostStages(problem), 200, random);
  double sum = 0;
  for (int plan = 0; plan < batch.plans(); ++plan) {
    sum += std::log(scorer.Score(PlanOf(graph, batch, plan)));
  }
  return sum / batch.plans();
}

TEST(StagePpoTest, DrawsBetterPlansOnceItHasLearned) {
  const StageProblem problem = DrawStageProblem(Random(11), 12, 12);
  StagePolicy policy({.width = 16}, 1);
  const double before = MeanLogScore(policy, problem);
  StageTrials trials({.evaluations = 1600});
  SearchByPolicy(problem, {.rate = 3e-3}, policy, trials);
  const double after = MeanLogScore(policy, problem);
  EXPECT_LT(after, before - 0.1);
}

// A policy that learned on other graphs draws better plans for one that it never saw than a policy
// that has learned nothing.
TEST(StagePpoTest, WhatItLearnedHelpsOnAnUnseenGraph) {
  std::vector<StageProblem> seen;
  for (int seed = 101; seed <= 120; ++seed) {
    seen.push_back(DrawStageProblem(Random(seed), 8, 12));
  }
  StagePolicy trained({.width = 16}, 1);
  TrainPolicy(seen, 15, {.rate = 3e-3}, trained);
  StagePolicy untrained({.width = 16}, 1);
  double gain = 0;
  for (int seed = 201; seed <= 208; ++seed) {
    const StageProblem unseen = DrawStageProblem(Random(seed), 8, 12);
    gain += MeanLogScore(untrained, unseen) - MeanLogScore(trained, unseen);
  }
  EXPECT_GT(gain / 8, 0.05);
}

std::vector<StageProblem> TwoProblems() {
  return {DrawStageProblem(Random(101), 8, 12), DrawStageProblem(Random(102), 8, 12)};
}

TEST(StagePpoTest, HasLearnedWhatFewerRoundsTeachIfStopped) {
  const std::vector<StageProblem> seen = TwoProblems();
  StagePolicy stopped(kNarrow, 1);
  std::atomic<bool> stop = false;
  EXPECT_EQ(
      TrainPolicy(seen, 5, {}, stopped, [&](int rounds) { stop = rounds == 2; }, {.stop = &stop}),
      4);
  StagePolicy shorter(kNarrow, 1);
  EXPECT_EQ(TrainPolicy(seen, 2, {}, shorter), 4);
  EXPECT_TRUE(stopped.Write() == shorter.Write());
  // It learns nothing if it is stopped at once.
  EXPECT_EQ(TrainPolicy(seen, 5, {}, stopped, {}, {.stop = &stop}), 0);
  EXPECT_TRUE(stopped.Write() == shorter.Write());
  StageTrials trials({.evaluations = 1000, .stop = &stop});
  EXPECT_EQ(SearchByPolicy(seen[0], {}, stopped, trials), 0);
  EXPECT_EQ(trials.evaluations(), 0);
  EXPECT_TRUE(stopped.Write() == shorter.Write());
}

// A batch is 32 plans.
TEST(StagePpoTest, ABudgetEndsTheTrainingAfterTheLastBatchThatItHasPlansFor) {
  const std::vector<StageProblem> seen = TwoProblems();
  StagePolicy policy(kNarrow, 1);
  const std::string untrained = policy.Write();
  EXPECT_EQ(TrainPolicy(seen, 5, {}, policy, {}, {.evaluations = 31}), 0);
  EXPECT_EQ(TrainPolicy(seen, 5, {}, policy, {}, {.seconds = 1e-9}), 0);
  EXPECT_TRUE(policy.Write() == untrained);
  EXPECT_EQ(TrainPolicy(seen, 5, {}, policy, {}, {.evaluations = 32 * 4 + 31}), 4);
  StagePolicy shorter(kNarrow, 1);
  EXPECT_EQ(TrainPolicy(seen, 2, {}, shorter, {}, {.evaluations = 32 * 4}), 4);
  EXPECT_TRUE(policy.Write() == shorter.Write());
}

TEST(StagePpoTest, AnotherThreadMayStopTheTraining) {
  const std::vector<StageProblem> seen = TwoProblems();
  StagePolicy policy(kNarrow, 1);
  std::atomic<int> rounds = 0;
  std::atomic<bool> stop = false;
  std::jthread other([&] {
    rounds.wait(0);
    stop = true;
  });
  const auto report = [&](int done) {
    rounds = done;
    rounds.notify_all();
  };
  // The ten million rounds would take hours.
  EXPECT_GE(TrainPolicy(seen, 10'000'000, {}, policy, report, {.stop = &stop}), 2);
}

// Plans are drawn decision by decision, and the policy learns from them decision by decision.
TEST(StagePpoTest, ABatchIsNotFinishedOnceItIsStopped) {
  const StageProblem problem = DrawStageProblem(Random(12), 12, 12);
  const PolicyGraph graph(problem);
  StagePolicy policy(kNarrow, 1);
  Random random(1);
  const std::vector<int>& order = problem.graph.dag.order;
  EXPECT_THROW(policy.Draw(graph, order, 2, 4, random, StopSign::AfterLooks(5)), Stopped);
  const PolicyBatch batch = policy.Draw(graph, order, 2, 4, random);
  Tape tape;
  EXPECT_THROW(policy.Decisions(tape, graph, batch, StopSign::AfterLooks(5)), Stopped);
}

}  // namespace
}  // namespace stagecraft
