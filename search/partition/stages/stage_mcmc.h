// SearchByMcmc(): a random walk over plans that prefers better ones, as FlexFlow's search does.
#pragma once

#include <cstdint>

#include "search/partition/stages/stage_trials.h"

namespace stagecraft {

struct StageMcmcOptions {
  // A plan whose score is greater than its predecessor's by a share d of the best known score is
  // accepted with probability exp(-sharpness * d). FlexFlow's constant is per millisecond; a share
  // does not depend on the network.
  double sharpness = 12;
  uint64_t seed = 1;
};

// Follows Jia et al., "Beyond Data and Model Parallelism", MLSys 2019: begins at data parallelism
// and makes one drawn change at a time. Every max(1, min(1000, budget / 100)) changes it returns to
// the best plan, or, every fourth time and unlike theirs, goes to a drawn plan. Only what a change
// touches is scored anew. Without a limit of evaluations this rule takes 100,000 as the budget.
void SearchByMcmc(const StageProblem& problem, const StageMcmcOptions& options,
                  StageTrials& trials);

// Goes downhill from `start`: takes the first change around the slowest stage that is better, until
// there is none, or until `evaluations` or the budget are used up.
StagePlan RepairStagePlan(const StageProblem& problem, const StagePlan& start, int64_t evaluations,
                          StageTrials& trials);

}  // namespace stagecraft
