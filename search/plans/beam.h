// Beam search: downhill from the best plans known.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

// Keeps the best `width` plans of some first starts: tries all moves (draft_moves.h) of the best
// one whose moves were not tried yet, and again until there is none; then the same from the next
// starts, until `trials` are used up.
void SearchPlansByBeam(const SearchProblem& problem, const std::vector<PlanStart>& starts,
                       int width, PlanTrials& trials);

// The same from one draft with a beam of one; at most about `evaluations`.
void Descend(const SearchProblem& problem, const PlanDraft& from, PlanTrials& trials,
             int64_t evaluations = std::numeric_limits<int64_t>::max());

}  // namespace stagecraft
