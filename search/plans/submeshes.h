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
// As many stages as the table's shape has. Best first; empty where none fits.
//
// Cost: a limit takes stages x products of devices (in the smallest submeshes) x choices
// x log blocks.
std::vector<SubmeshDraft> SolveSubmeshes(const SearchProblem& problem, const StageTable& table);

// The best of every shape simulated, best first by its bound, until `trials` are spent.
void SearchPlansBySubmeshes(const SearchProblem& problem, const std::vector<PlanStart>& shapes,
                            PlanTrials& trials);

}  // namespace stagecraft
