// PolicyPass: one run of a StagePolicy over a batch of plans, which draws decisions or follows
// given ones.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/stages/stage_policy.h"

namespace stagecraft {

class PolicyPass {
 public:
  // Draws the decisions and writes them to `batch` if `random` is given; follows those in `batch`
  // if it is null. All arguments must outlive this object.
  PolicyPass(Tape& tape, StagePolicy& policy, const PolicyGraph& graph, PolicyBatch& batch,
             Random* random, const StopSign& stop);
  // Throws Stopped.
  PolicyDecisions Run();

 private:
  // PlanSizes is, for one plan, what its stages hold, and the bytes that cross the cut behind each.
  struct PlanSizes {
    std::vector<StageSizes> sizes;
    std::vector<int64_t> crossing;
  };

  // The inputs for the decision to cut behind one position; rows are plans.
  struct CutInputs {
    Matrix features;
    Mask mask;
  };
  // The inputs for the choice of devices of one stage.
  struct ChoiceInputs {
    Matrix means;     // plans x nodes: 1 / count for the stage's nodes
    Matrix features;  // one row for each choice and plan, choice by choice
    Mask mask;        // plans x choices
  };

  // Returns the inputs for a cut behind `position`. Adds the node there to the loads of the open
  // stages.
  CutInputs InputsAt(int position, std::vector<double>& loads) const;
  ChoiceInputs InputsOf(int stage) const;
  PlanSizes SizesOf(const std::vector<int>& ends) const;
  void DecideEnds(Variable encoded);
  void DecideChoices(Variable encoded);
  void DecideChoice(int stage, Variable encoded);
  // Decides rows side by side: `logits` and `mask` are rows x options. Returns the option of each
  // row, which is drawn or followed.
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
