// PlanDraft: a plan as a search changes it. What all stages share, and what each has of
// its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/pooled_plan.h"
#include "search/problem.h"
#include "sim/pipeline/order_kind.h"
#include "sim/plan.h"

namespace stagecraft {

// What stages can lie in: the groups of nodes, or all of a homogeneous cluster.
std::vector<Pool> DraftPools(const Cluster& cluster);

struct DraftStage {
  int pool = 0;
  int tensor = 1;
  int blocks = 0;  // over all its chunks; embedding and head stand at the ends besides
  Recompute recompute = Recompute::kNone;
  friend auto operator<=>(const DraftStage&, const DraftStage&) = default;
};

struct PlanDraft {
  PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  int chunks = 1;
  int data = 1;
  int context = 1;
  int expert = 1;
  int zero = 0;
  int64_t micro_batch = 1;
  std::vector<DraftStage> stages;

  int stage_devices(const DraftStage& stage) const { return stage.tensor * context * data; }
  int devices() const;
  // A few words each, for people.
  std::string Describe() const;
  friend auto operator<=>(const PlanDraft&, const PlanDraft&) = default;
};

// A plan whose stages have equally many replicas.
PlanDraft DraftOf(const Plan& plan, const SearchProblem& problem);

// Stages take the devices of their pools one after another, or where the problem's rank
// order puts them. Throws InputError where there
// is no such plan, or the problem's choices rule it out; without fewer_devices a
// homogeneous cluster is filled.
Plan MakePlan(const PlanDraft& draft, const SearchProblem& problem);

}  // namespace stagecraft
