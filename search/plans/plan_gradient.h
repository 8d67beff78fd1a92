// Search by gradients: boundaries and degrees of stages as shares instead of choices.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_relaxation.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanGradientOptions {
  int steps = 30;     // of Adam, from one start
  int repairs = 400;  // evaluations, after 32 starts
  RelaxationOptions relaxation = {};
  uint64_t seed = 1;
};

// Shape after shape, as OrderShapes() has them, and again: a StageRelaxation over where the
// blocks are cut and what each stage runs on, descending the slowest stage. At its end two
// roundings are simulated. After every 32 starts the best rounding since the last repair is
// repaired by Descend() if nothing was better so far, and every eighth time whatever it is.
// Ends too where all shapes bring nothing that was not seen.
void SearchPlansByGradient(const SearchProblem& problem, const std::vector<PlanStart>& all,
                           const PlanGradientOptions& options, PlanTrials& trials);

}  // namespace stagecraft
