// Where searches begin: the plans of a space that are best by what is known about them before they
// are simulated.
#pragma once

#include <vector>

#include "search/plan_space.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

struct PlanStart {
  PlanDraft draft;
  double bound = 0;  // as in PlanSpace::Bound()
};

// At most `most` of the plans whose least memory suffices, least bound first. Computes the bounds
// of all, and makes as many plans as it returns.
std::vector<PlanStart> FindStarts(const SearchProblem& problem, PlanSpace& space, size_t most);

// The shapes of the starts: everything but layers, tensor degrees, pools and recomputation of their
// stages. Each shape occurs once, as the first start that has it, in the order of the starts. On
// unlike GPU types, whose space holds one pipeline schedule, each of the first ones is followed by
// the other shapes of its stages that are plans.
std::vector<PlanStart> ShapesOf(const SearchProblem& problem, const std::vector<PlanStart>& starts);

// Simulates the first 1,024 of them as they are, with at most a fifth of the budget's evaluations;
// returns those that fit, least score first, and then the others in their order.
std::vector<PlanStart> OrderBySimulation(const std::vector<PlanStart>& starts, PlanTrials& trials);
// The same with the others in between: a shape whose start does not fit may have other stages that
// do.
std::vector<PlanStart> OrderShapes(const std::vector<PlanStart>& shapes, PlanTrials& trials);

}  // namespace stagecraft
