// Checks plans of stages: computes the objective anew from its definition and from nothing that a
// solver kept (nor from StageCosts).
#pragma once

#include <string>
#include <vector>

#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

struct CheckedStage {
  double seconds = 0;       // per minibatch
  double memory_bytes = 0;  // of a device: parameters and activations of minibatches in flight
};

struct StageCheck {
  std::vector<std::string> errors;  // one sentence each, memory included; empty: valid
  double slowest_s = 0;
  std::vector<CheckedStage> stages;
};

// By the rules of stage_costs.h. O(stages * (nodes + edges)).
StageCheck CheckStages(const StageProblem& problem, const StagePlan& plan);

}  // namespace stagecraft
