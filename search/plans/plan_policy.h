// Search by a learned policy that draws plans, and learns from their step times.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_policy.h"
#include "search/partition/stages/stage_ppo.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanPolicyOptions {
  int shapes = 16;          // to choose from at a time, the first of OrderShapes()
  double shape_rate = 0.5;  // learning rate of the shapes' logits
  StagePpoOptions ppo = {.batch = 16, .epochs = 2};
  uint64_t seed = 1;
};

// Works batch after batch until `trials` are used up: a shape (plan_starts.h) is drawn by learned
// logits, which follow how good its best plan was (REINFORCE, with a running mean and deviation as
// baseline); `policy` draws the cuts between layers and the devices of each stage, and learns by
// PPO from the simulated steps. Untrained, it learns from scratch; trained on operator graphs or
// other clusters, it is tuned to this problem. Plans that are impossible or do not fit count as
// four times the best. A shape whose batches bring little that was not seen makes room for the
// next.
void SearchPlansByPolicy(const SearchProblem& problem, const std::vector<PlanStart>& all,
                         const PlanPolicyOptions& options, StagePolicy& policy, PlanTrials& trials);

}  // namespace stagecraft
