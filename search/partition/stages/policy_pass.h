// PolicyPass: one run of a StagePolicy over a batch of plans, which draws what has not been
// decided.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_policy.h"

namespace stagecraft {

class PolicyPass {
 public:
  // Draws if `random` is given, and follows `batch` if it is null. All arguments must outlive this
  // object.
  PolicyPass(Tape& tape, StagePolicy& policy, const PolicyGraph& graph, PolicyBatch& batch,
             Random* random, const StopSign& stop);
  // Throws Stopped.
  PolicyDecisions Run();

 private:
  // For one plan: what its stages hold, and the bytes that cross behind each.
  struct PlanSizes {
    std::vector<StageSizes> sizes;
    std::vector<int64_t> crossing;
  };

  // Inputs for a cut behind one position; rows are plans.
  struct CutInputs {
    Matrix features;
    Mask mask;
  };
  // Inputs for the devices of one stage.
  struct ChoiceInputs {
    Matrix means;     // plans x nodes: shares of the stage's nodes
    Matrix features;  // choices x plans, choice by choice
    Mask mask;        // plans x choices
  };

  // Adds the node at `position` to the loads of the open stages.
  CutInputs InputsAt(int position, std::vector<double>& loads) const;
  ChoiceInputs InputsOf(int stage) const;
  PlanSizes SizesOf(const std::vector<int>& ends) const;
  void DecideEnds(Variable encoded);
  void DecideChoices(Variable encoded);
  void DecideChoice(int stage, Variable encoded);
  // Rows x options; by row, the option that is drawn or followed.
  std::vector<int> Decide(Variable logits, const Mask& mask, const std::vector<int>& followed);

  Tape& tape_;
  StagePolicy& policy_;
  const PolicyGraph& graph_;
  PolicyBatch& batch_;
  Random* random_;
  const StopSign& stop_;
  std::vector<Variable> log_probabilities_;  // plans x 1 each
  std::vector<Variable> entropies_;
  std::vector<std::vector<int>> unused_;  // by plan and kind
  std::vector<PlanSizes> sizes_;          // by plan
};

}  // namespace stagecraft
