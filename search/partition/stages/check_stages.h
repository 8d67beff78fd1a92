// Checks of plans of stages: the objective computed anew from its definition
// and from nothing that a solver kept (not StageCosts either).
#pragma once

#include <string>
#include <vector>

#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

struct CheckedStage {
  double seconds = 0;       // per minibatch
  double memory_bytes = 0;  // of a device: minibatches in flight of parameters and activations
};

struct StageCheck {
  std::vector<std::string> errors;  // one sentence each, memory included; empty: valid
  double slowest_s = 0;
  std::vector<CheckedStage> stages;
};

// By the rules of stage_costs.h. O(stages * (nodes + edges)).
StageCheck CheckStages(const StageProblem& problem, const StagePlan& plan);

}  // namespace stagecraft
