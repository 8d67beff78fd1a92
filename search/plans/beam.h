// SearchPlansByBeam(): a beam search, downhill from the best plans known.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"

namespace stagecraft {

// Keeps the best `width` plans found from the first few starts: tries all moves (draft_moves.h) of
// the best of these plans whose moves were not tried yet, until there is none. Then begins again
// with the next starts, until `trials` are used up.
void SearchPlansByBeam(const SearchProblem& problem, const std::vector<PlanStart>& starts,
                       int width, PlanTrials& trials);

// Does the same from one draft with a beam of one plan, with at most about `evaluations`
// evaluations.
void Descend(const SearchProblem& problem, const PlanDraft& from, PlanTrials& trials,
             int64_t evaluations = std::numeric_limits<int64_t>::max());

}  // namespace stagecraft
