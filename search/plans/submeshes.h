// Finds stages and the devices on which they lie by dynamic programming.
#pragma once

#include <vector>

#include "search/plans/plan_draft.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"
#include "search/plans/stage_table.h"

namespace stagecraft {

struct SubmeshDraft {
  PlanDraft draft;
  // (micro-batches - 1) x slowest stage + all stages' time of one micro-batch, of which chunks
  // divide the fill; this is what Alpa's dynamic programme minimises.
  Duration step;
};

// Follows Alpa's inter-operator dynamic programme (Zheng et al., OSDI 2022): for a limit T on the
// slowest stage, from back to front over (stages behind, devices taken), the most transformer
// blocks that stages within T and within memory can hold; blocks of one network are so alike that
// this replaces a table over blocks. The least T is found by bisection; then greater ones are tried
// until (micro-batches - 1) x T alone is worse than the best. There are as many stages as the
// table's shape has. Best first; empty if none fits, or if a stage would take longer than `most`.
//
// Cost: a limit takes at most stages x products of devices (in the smallest submeshes) x choices x
// log blocks; choices of equal devices are looked at once for each number of blocks. If all but the
// last factor make more than 300,000, submeshes are twice as large in the pool with most of them,
// until they do not, and what is no multiple is left out.
std::vector<SubmeshDraft> SolveSubmeshes(const SearchProblem& problem, const StageTable& table,
                                         Duration most = Duration::Max());

// Simulates the results of SolveSubmeshes() for each shape, shape after shape, if they may be
// better than the best so far; then repairs the best of all by Descend(), as far as `trials` go.
void SearchPlansBySubmeshes(const SearchProblem& problem, const std::vector<PlanStart>& shapes,
                            PlanTrials& trials);

}  // namespace stagecraft
