// Checks plans of stages: computes the objective anew from its definition, without anything that a
// solver kept and without StageCosts.
#pragma once

#include <string>
#include <vector>

#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

struct CheckedStage {
  double seconds = 0;       // per minibatch
  double memory_bytes = 0;  // of a device: parameters and activations of the minibatches in flight
};

struct StageCheck {
  std::vector<std::string> errors;  // one sentence each, memory included; empty: valid
  double slowest_s = 0;
  std::vector<CheckedStage> stages;
};

// Checks a plan by the rules of stage_costs.h. O(stages * (nodes + edges)).
StageCheck CheckStages(const StageProblem& problem, const StagePlan& plan);

}  // namespace stagecraft
