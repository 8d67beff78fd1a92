// Search by gradients: boundaries and degrees of stages as shares instead of choices.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_relaxation.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanGradientOptions {
  int steps = 30;     // of Adam, from each start
  int repairs = 400;  // evaluations, after 32 starts
  RelaxationOptions relaxation = {};
  uint64_t seed = 1;
};

// Takes shape after shape, in the order of OrderShapes(), and again: a StageRelaxation over where
// the layers are cut and what each stage runs on descends on the slowest stage. At its end two
// roundings are simulated. After every 32 starts Descend() repairs the best rounding since the last
// repair if nothing was better so far, and every eighth time in any case. Also ends once all shapes
// bring nothing that was not seen.
void SearchPlansByGradient(const SearchProblem& problem, const std::vector<PlanStart>& all,
                           const PlanGradientOptions& options, PlanTrials& trials);

}  // namespace stagecraft
