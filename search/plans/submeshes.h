// SolveSubmeshes(): finds stages and the devices on which they lie by dynamic programming.
#pragma once

#include <vector>

#include "search/plans/plan_draft.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"
#include "search/plans/stage_table.h"
#include "search/solution.h"

namespace stagecraft {

struct SubmeshDraft {
  PlanDraft draft;
  // (micro-batches - 1) x slowest stage + the time of one micro-batch through all stages, divided
  // by the chunks of a stage. This is what Alpa's dynamic programme minimises.
  Duration step;
};

// Follows Alpa's inter-operator dynamic programme (Zheng et al., OSDI 2022). For a limit T on the
// slowest stage, it computes from back to front, for each (number of later stages, devices taken),
// the most transformer blocks that stages within T and within memory can hold; blocks of one
// network are so alike that this replaces a table over blocks. The least T is found by bisection;
// then greater ones are tried until (micro-batches - 1) x T alone is worse than the best. There are
// as many stages as the table's shape has. Returns the drafts best first; none if none fits, or if
// a stage would take longer than `most`.
//
// Cost of each limit: at most stages x states x choices x log blocks; states are the combinations
// of how many of its smallest submeshes are taken of each pool. Choices of equal devices are
// examined together, once for each number of blocks. As long as the product of all but the last
// factor exceeds 300,000, submeshes are doubled in the pool that has the most of them, and choices
// that are not a multiple are left out.
std::vector<SubmeshDraft> SolveSubmeshes(const SearchProblem& problem, const StageTable& table,
                                         Duration most = Duration::Max());

// Simulates the results of SolveSubmeshes(), shape after shape, if they may be better than the best
// plan so far; then improves the best of all by Descend(), as far as `trials` allow. A `known` plan
// that was found elsewhere is improved, too, unless a better one is found; it may be null. Shapes
// are left out if WorkBound says that they have no plan that is better than both.
void SearchPlansBySubmeshes(const SearchProblem& problem, const std::vector<PlanStart>& shapes,
                            const RankedPlan* known, PlanTrials& trials);

}  // namespace stagecraft
