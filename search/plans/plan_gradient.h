// SearchPlansByGradient(): a search by gradients, in which boundaries and degrees of stages are
// shares instead of choices.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_relaxation.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanGradientOptions {
  int steps = 30;     // steps of Adam from each start
  int repairs = 400;  // evaluations of each repair
  RelaxationOptions relaxation = {};
  uint64_t seed = 1;
};

// Takes one shape after another, in the order of OrderShapes(), again and again. For each, a
// StageRelaxation of where the layers are cut and on what each stage runs descends on the time of
// the slowest stage; then two of its roundings are simulated. After every 32 starts Descend()
// repairs the best rounding since the last repair if no plan so far is better, and every eighth
// time in any case. Also ends once no shape gives a plan that was not evaluated before.
void SearchPlansByGradient(const SearchProblem& problem, const std::vector<PlanStart>& all,
                           const PlanGradientOptions& options, PlanTrials& trials);

}  // namespace stagecraft
