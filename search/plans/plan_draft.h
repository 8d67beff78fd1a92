// PlanDraft: a plan as a search changes it. What all stages share, and what each has of
// its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/pooled_plan.h"
#include "search/problem.h"
#include "sim/pipeline/order_kind.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// What stages can lie in: the groups of nodes, or all of a homogeneous cluster.
std::vector<Pool> DraftPools(const Cluster& cluster);

struct DraftStage {
  std::vector<int> replicas;  // by pool
  int tensor = 1;
  int blocks = 0;  // over all its chunks; embedding and head stand at the ends besides
  Recompute recompute = Recompute::kNone;

  int replica_count() const;
  int pool() const;       // the first that it lies in
  bool is_mixed() const;  // it lies in several
  friend auto operator<=>(const DraftStage&, const DraftStage&) = default;
};

struct PlanDraft {
  PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  int chunks = 1;
  int context = 1;
  int expert = 1;
  int zero = 0;
  int64_t micro_batch = 1;
  bool sequence_parallel = true;  // of stages with several tensor ranks
  std::string rank_order = kDefaultRankOrder;
  std::vector<DraftStage> stages;

  int replica_count() const;  // of the stage with most
  int stage_devices(const DraftStage& stage) const {
    return stage.tensor * context * stage.replica_count();
  }
  int devices() const;
  int blocks() const;
  bool divides_tensors() const;  // in some stage
  // A few words each, for people.
  std::string Describe() const;
  friend auto operator<=>(const PlanDraft&, const PlanDraft&) = default;
};

PlanDraft DraftOf(const Plan& plan, const SearchProblem& problem);

// Whether replicas of a stage beside each other make another plan than stages of a replica.
bool HasRankOrders(const PlanDraft& draft, const Cluster& cluster);

// Of all drafts of the same plan one: what shares, divides or moves nothing is as it usually
// is. One stage is no pipeline: it has no chunks, and no order but OrderOfOneStage().
PlanDraft Settled(PlanDraft draft, const SearchProblem& problem);

}  // namespace stagecraft
