// Plans along one topological order: where it is cut, and what each piece runs on.
#pragma once

#include <vector>

#include "costmodel/random.h"
#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

// `ends`: by stage, how many nodes of dag.order lie before its end; ascending
// without repeats, the last is all of them.
StagePlan PlanFromCuts(const StageProblem& problem, const std::vector<int>& ends,
                       std::vector<StageReplicas> replicas);

// The most stages that a plan can have.
int MostStages(const StageProblem& problem);

// As many stages as `stages` (at most MostStages), cuts and devices all drawn.
StagePlan DrawStagePlan(const StageProblem& problem, int stages, Random& random);

}  // namespace stagecraft
