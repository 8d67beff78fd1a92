// MCMC: a walk through the plans that prefers better ones, as FlexFlow's search does.
#pragma once

#include <cstdint>

#include "search/partition/stages/stage_trials.h"

namespace stagecraft {

struct StageMcmcOptions {
  // A plan that is worse by the share d of the best known score is accepted with probability
  // exp(-sharpness * d). FlexFlow's constant is per millisecond; a share does not depend on the
  // network.
  double sharpness = 12;
  uint64_t seed = 1;
};

// Jia et al., "Beyond Data and Model Parallelism", MLSys 2019: begins at data parallelism and makes
// one drawn change at a time; every max(1, min(1000, budget / 100)) changes it returns to the best
// plan, here every fourth time to a drawn plan instead. Each change is scored by what it touches
// alone. Without a limit of evaluations the budget of this rule is 100,000.
void SearchByMcmc(const StageProblem& problem, const StageMcmcOptions& options,
                  StageTrials& trials);

// Goes downhill from `start`: takes the first change around the slowest stage that is better, until
// there is none, or until `evaluations` or the budget are used up.
StagePlan RepairStagePlan(const StageProblem& problem, const StagePlan& start, int64_t evaluations,
                          StageTrials& trials);

}  // namespace stagecraft
