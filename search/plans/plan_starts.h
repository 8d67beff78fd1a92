// Where searches begin: the plans of a space that are best by what is known of them
// before they are simulated.
#pragma once

#include <vector>

#include "search/plan_space.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanStart {
  PlanDraft draft;
  double bound = 0;  // PlanSpace::Bound
};

// At most `most` of those whose least memory suffices, least bound first. Bounds them
// all, and makes as many plans.
std::vector<PlanStart> FindStarts(const SearchProblem& problem, PlanSpace& space, size_t most);

// Each but its stages' blocks, tensor degrees, pools and recomputation, once, in the
// order of the starts: of each the first. On unlike boards, whose space holds one schedule,
// behind each of the first ones the other shapes of its stages that are plans.
std::vector<PlanStart> ShapesOf(const SearchProblem& problem, const std::vector<PlanStart>& starts);

// The first 1,024 of them simulated as they are, at no more than a fifth of the budget's
// evaluations; those that fit, least score first, and the others behind in their order.
std::vector<PlanStart> OrderBySimulation(const std::vector<PlanStart>& starts, PlanTrials& trials);
// The same with the others in between: a shape whose start does not fit may have other stages
// that do.
std::vector<PlanStart> OrderShapes(const std::vector<PlanStart>& shapes, PlanTrials& trials);

}  // namespace stagecraft
