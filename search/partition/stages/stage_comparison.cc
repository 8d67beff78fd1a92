#include "search/partition/stages/stage_comparison.h"

#include <functional>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"
#include "search/partition/stages/stage_gradient.h"
#include "search/partition/stages/stage_mcmc.h"
#include "search/partition/stages/stage_policy.h"
#include "search/partition/stages/stage_ppo.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

void SearchByDrawing(const StageProblem& problem, uint64_t seed, StageTrials& trials) {
  const StageCosts costs(problem);
  StageScorer scorer(costs);
  Random random = Random(seed).Child("stage drawing", 0);
  while (!trials.IsSpent()) {
    const auto stages = static_cast<int>(random.Integer(1, MostStages(problem)));
    const StagePlan plan = DrawStagePlan(problem, stages, random);
    trials.Add(scorer.Score(plan), plan);
  }
}

void SearchFromScratch(const StageProblem& problem, const StageComparison& comparison,
                       bool is_directed, StageTrials& trials) {
  StagePolicy policy({comparison.policy_width, is_directed}, comparison.seed);
  SearchByPolicy(problem, {.seed = comparison.seed}, policy, trials);
}

void Search(StageAlgorithm algorithm, const StageProblem& problem,
            const StageComparison& comparison, StageTrials& trials) {
  const uint64_t seed = comparison.seed;
  switch (algorithm) {
    case StageAlgorithm::kRandom:
      SearchByDrawing(problem, seed, trials);
      return;
    case StageAlgorithm::kMcmc:
      SearchByMcmc(problem, {.seed = seed}, trials);
      return;
    case StageAlgorithm::kGradient:
      SearchByGradient(problem, {.seed = seed}, trials);
      return;
    case StageAlgorithm::kPolicy:
      SearchFromScratch(problem, comparison, false, trials);
      return;
    case StageAlgorithm::kDirectedPolicy:
      SearchFromScratch(problem, comparison, true, trials);
      return;
    case StageAlgorithm::kTunedPolicy:
      CHECK(false);  // TuneStagePolicy
  }
}

StageRun Measure(StageAlgorithm algorithm, const Budget& budget,
                 const std::function<void(StageTrials&)>& search) {
  CHECK(budget.evaluations > 0 || budget.seconds > 0);
  const Stopwatch watch;
  StageTrials trials(budget);
  search(trials);
  return {.algorithm = algorithm,
          .score = trials.best_score(),
          .plan = trials.best(),
          .evaluations = trials.evaluations(),
          .seconds = watch.Seconds(),
          .curve = trials.curve()};
}

}  // namespace

const std::vector<StageAlgorithm>& AllStageAlgorithms() {
  static const std::vector<StageAlgorithm> all = {
      StageAlgorithm::kRandom, StageAlgorithm::kMcmc, StageAlgorithm::kGradient,
      StageAlgorithm::kPolicy, StageAlgorithm::kDirectedPolicy};
  return all;
}

std::string NameOf(StageAlgorithm algorithm) {
  switch (algorithm) {
    case StageAlgorithm::kRandom:
      return "random";
    case StageAlgorithm::kMcmc:
      return "mcmc";
    case StageAlgorithm::kGradient:
      return "differentiable";
    case StageAlgorithm::kPolicy:
      return "policy";
    case StageAlgorithm::kDirectedPolicy:
      return "directed policy";
    case StageAlgorithm::kTunedPolicy:
      return "tuned policy";
  }
  return "";
}

StageRun RunStageAlgorithm(StageAlgorithm algorithm, const StageProblem& problem,
                           const StageComparison& comparison) {
  return Measure(algorithm, comparison.budget,
                 [&](StageTrials& trials) { Search(algorithm, problem, comparison, trials); });
}

StageRun TuneStagePolicy(const StageProblem& problem, const StageComparison& comparison,
                         StagePolicy& policy) {
  int learned = 0;
  StageRun run = Measure(StageAlgorithm::kTunedPolicy, comparison.budget, [&](StageTrials& trials) {
    learned = SearchByPolicy(problem, {.seed = comparison.seed}, policy, trials);
  });
  run.learned = learned;
  return run;
}

}  // namespace stagecraft
