// SearchPlansByMcmc(): random walks over plans that prefer better ones, as FlexFlow's search does.
#pragma once

#include <cstdint>
#include <vector>

#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanMcmcOptions {
  // Chains run side by side, to use several cores; the result is the same with any number of cores.
  int chains = 8;
  // A plan whose score is greater than its predecessor's by a share d of the best known score is
  // accepted with probability exp(-sharpness * d).
  double sharpness = 60;
  uint64_t seed = 1;
};

// Follows Jia et al., "Beyond Data and Model Parallelism", MLSys 2019: each chain makes one drawn
// move (draft_moves.h) at a time. Half of the chains begin at the best simulated starts, the others
// at drawn ones. A chain that finds nothing better for 100 moves returns to the best plan, and
// every fourth time goes to a drawn start instead. Also ends once the chains find no new plans.
void SearchPlansByMcmc(const SearchProblem& problem, const std::vector<PlanStart>& starts,
                       const PlanMcmcOptions& options, PlanTrials& trials);

// Evaluates randomly drawn starts, each once: the baseline that a search must beat.
void SearchPlansRandomly(const std::vector<PlanStart>& starts, uint64_t seed, PlanTrials& trials);

}  // namespace stagecraft
