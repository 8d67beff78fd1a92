// SearchPlansByPolicy(): a search by a learned policy, which draws plans and learns from their step
// times.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_policy.h"
#include "search/partition/stages/stage_ppo.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanPolicyOptions {
  int shapes = 16;          // shapes to draw from at a time, taken in the order of OrderShapes()
  double shape_rate = 0.5;  // of the shapes' logits
  StagePpoOptions ppo = {.batch = 16, .epochs = 2};
  uint64_t seed = 1;
};

// Works batch by batch until `trials` are used up. A shape (plan_starts.h) is drawn by logits,
// which learn from the best plan of each batch (REINFORCE, with a running mean and deviation as
// baseline). `policy` draws the cuts between layers and the devices of each stage, and learns by
// PPO from the simulated steps: an untrained one from scratch; one that was trained on operator
// graphs or other clusters is tuned to this problem. Plans that are impossible or do not fit count
// as four times the best score. A shape whose batches give few new plans is replaced by the next
// one.
void SearchPlansByPolicy(const SearchProblem& problem, const std::vector<PlanStart>& all,
                         const PlanPolicyOptions& options, StagePolicy& policy, PlanTrials& trials);

}  // namespace stagecraft
