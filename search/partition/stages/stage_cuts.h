// PlanFromCuts(): makes plans of a topological order, the positions at which it is cut, and what
// each piece runs on.
#pragma once

#include <vector>

#include "costmodel/random.h"
#include "search/partition/dag.h"
#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

// `ends` are, by stage, how many nodes of `order` lie before the stage's end. They are strictly
// ascending, and the last one is the number of nodes.
StagePlan PlanFromCuts(const std::vector<int>& order, const std::vector<int>& ends,
                       std::vector<StageReplicas> replicas);

// Returns a topological order in which each next node is drawn from those that are ready.
std::vector<int> DrawOrder(const Dag& dag, Random& random);

// Returns the most stages that a plan can have.
int MostStages(const StageProblem& problem);

// Returns a plan of `stages` stages (at most MostStages()), whose order, cuts and devices are all
// drawn.
StagePlan DrawStagePlan(const StageProblem& problem, int stages, Random& random);

}  // namespace stagecraft
