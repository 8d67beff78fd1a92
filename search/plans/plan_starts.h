// PlanStart: where a search begins, namely a plan of a space that is among the best by its bound,
// before any is simulated.
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

// Returns at most `most` of the plans whose least memory fits, least bound first. Computes the
// bounds of all enumerated plans, and makes only those plans that it returns.
std::vector<PlanStart> FindStarts(const SearchProblem& problem, PlanSpace& space, size_t most);

// Returns the shapes of the starts: everything but layers, tensor degrees, pools and recomputation
// of their stages. Each shape occurs once, as the first start that has it, in the order of the
// starts. On unlike GPU types, for which the space has only one pipeline schedule, each of the
// first shapes is followed by the other shapes that its stages allow (DraftMoves::OfShape()).
std::vector<PlanStart> ShapesOf(const SearchProblem& problem, const std::vector<PlanStart>& starts);

// Simulates the first 1,024 starts as they are, with at most a fifth of the budget's evaluations.
// Returns those that fit, least score first, and then the others in their given order.
std::vector<PlanStart> OrderBySimulation(const std::vector<PlanStart>& starts, PlanTrials& trials);
// Does the same for shapes, but alternates between those that fit and the others: a shape whose
// start does not fit may have other stages that do.
std::vector<PlanStart> OrderShapes(const std::vector<PlanStart>& shapes, PlanTrials& trials);

}  // namespace stagecraft
