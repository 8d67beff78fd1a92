// Stages and the devices they lie on, by dynamic programme.
#pragma once

#include <vector>

#include "search/plans/plan_draft.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"
#include "search/plans/stage_table.h"

namespace stagecraft {

struct SubmeshDraft {
  PlanDraft draft;
  // (micro-batches - 1) x slowest stage + all stages' time of one micro-batch, of which
  // chunks divide the fill; what Alpa's programme minimises.
  Duration step;
};

// After Alpa's inter-operator programme (Zheng et al., OSDI 2022, systems.md §4): for a
// limit T on the slowest stage, back to front over (stages behind, devices taken), the most
// blocks that stages within T and within memory can hold; blocks of one network are so
// alike that this replaces a table over blocks. The least T is found by halving; then
// greater ones are tried until (micro-batches - 1) x T alone is worse than the best.
// As many stages as the table's shape has. Best first; empty where none fits, or a stage
// would take longer than `most`.
//
// Cost: a limit takes stages x products of devices (in the smallest submeshes) x choices
// x log blocks at most; choices of equal devices are looked at once for each number of
// blocks. Where all but the last make more than 300,000, submeshes are twice as large
// in the pool with most of them, until they do not, and what is no multiple is left out.
std::vector<SubmeshDraft> SolveSubmeshes(const SearchProblem& problem, const StageTable& table,
                                         Duration most = Duration::Max());

// What SolveSubmeshes() has for each shape, shape after shape, simulated where it may be
// better than the best so far; then the best of all is repaired by Descend(), as far as
// `trials` go.
void SearchPlansBySubmeshes(const SearchProblem& problem, const std::vector<PlanStart>& shapes,
                            PlanTrials& trials);

}  // namespace stagecraft
