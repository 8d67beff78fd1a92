#include "search/partition/stages/stage_mcmc.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"
#include "search/partition/stages/stage_moves.h"
#include "search/partition/stages/stage_state.h"

namespace stagecraft {
namespace {

constexpr int64_t kUnlimitedBudget = 100'000;
constexpr int kMostChangesToRestart = 1000;
constexpr int kRestartsToDrawnPlan = 4;

// Returns a plan with every operator on every device of the kind with the greatest count times
// speed.
StagePlan DataParallel(const StageProblem& problem) {
  StagePlan plan = OneStage(problem);
  double most = 0;
  for (size_t kind = 0; kind < problem.kinds.size(); ++kind) {
    const double power = problem.kinds[kind].count * problem.kinds[kind].speed;
    if (power <= most) continue;
    most = power;
    plan.replicas = {{static_cast<int>(kind), problem.kinds[kind].count}};
  }
  return plan;
}

StagePlan NextStart(const StageProblem& problem, int restart, const StageTrials& trials,
                    Random& random) {
  if (restart % kRestartsToDrawnPlan != 0) return trials.best();
  const auto stages = static_cast<int>(random.Integer(1, MostStages(problem)));
  return DrawStagePlan(problem, stages, random);
}

// Makes `changes` proposals, beginning at `state`.
void Walk(StageState& state, int64_t changes, const StageMcmcOptions& options,
          const std::vector<StageReplicas>& choices, Random& random, StageTrials& trials) {
  double score = state.Score();
  for (int64_t change = 0; change < changes && !trials.IsSpent(); ++change) {
    const StageMove move = DrawMove(state, choices, random);
    if (!Apply(move, state)) continue;
    const double proposed = state.Score();
    trials.Add(proposed, state.plan());
    const double loss = (proposed - score) / trials.best_score();
    const double luck = random.Uniform();
    if (loss <= 0 || luck < std::exp(-options.sharpness * loss)) {
      state.Keep();
      score = proposed;
    } else {
      state.Undo();
    }
  }
}

}  // namespace

void SearchByMcmc(const StageProblem& problem, const StageMcmcOptions& options,
                  StageTrials& trials) {
  const StageCosts costs(problem);
  const std::vector<StageReplicas> choices = ReplicaChoices(problem);
  Random random = Random(options.seed).Child("stage mcmc", 0);
  const int64_t budget =
      trials.budget().evaluations > 0 ? trials.budget().evaluations : kUnlimitedBudget;
  const int64_t changes = std::clamp<int64_t>(budget / 100, 1, kMostChangesToRestart);
  StagePlan start = DataParallel(problem);
  // If no move is possible there is only one plan, so the rounds are limited.
  for (int restart = 1; restart <= budget && !trials.IsSpent(); ++restart) {
    StageState state(costs, start);
    trials.Add(state.Score(), state.plan());
    Walk(state, changes, options, choices, random, trials);
    start = NextStart(problem, restart, trials, random);
  }
}

StagePlan RepairStagePlan(const StageProblem& problem, const StagePlan& start, int64_t evaluations,
                          StageTrials& trials) {
  const int64_t last = trials.evaluations() + evaluations;
  const StageCosts costs(problem);
  const std::vector<StageReplicas> choices = ReplicaChoices(problem);
  StageState state(costs, start);
  double score = state.Score();
  bool is_better = true;
  while (is_better) {
    is_better = false;
    for (const StageMove& move : MovesThatRelieve(state.slowest_stage(), state, choices)) {
      if (trials.IsSpent() || trials.evaluations() >= last) return state.plan();
      if (!Apply(move, state)) continue;
      const double proposed = state.Score();
      trials.Add(proposed, state.plan());
      if (proposed < score) {
        state.Keep();
        score = proposed;
        is_better = true;
        break;
      }
      state.Undo();
    }
  }
  return state.plan();
}

}  // namespace stagecraft
