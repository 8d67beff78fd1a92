// PlanDraft: a plan in the form in which a search changes it: what all stages share, and what
// differs between stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/pooled_plan.h"
#include "search/problem.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns the pools in which stages can lie: the node groups or, if the cluster is homogeneous, all
// of it as one pool.
std::vector<Pool> DraftPools(const Cluster& cluster);

struct DraftStage {
  std::vector<int> replicas;  // by pool
  int tensor = 1;
  int blocks = 0;  // over all its chunks; embedding and head at the ends are not counted
  Recompute recompute = Recompute::kNone;

  int replica_count() const;
  int pool() const;       // the first pool in which it lies
  bool is_mixed() const;  // whether it lies in several pools
  friend auto operator<=>(const DraftStage&, const DraftStage&) = default;
};

struct PlanDraft {
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  int chunks = 1;
  int context = 1;
  int expert = 1;
  int zero = 0;
  int64_t micro_batch = 1;
  bool sequence_parallel = true;  // for stages with several tensor ranks
  std::string rank_order = kDefaultRankOrder;
  // As in StepOptions; count only if the problem's choices leave them open.
  bool overlaps_tensor = false, overlaps_gather = false;
  std::vector<DraftStage> stages;

  int replica_count() const;  // of the stage with the most replicas
  int stage_devices(const DraftStage& stage) const {
    return stage.tensor * context * stage.replica_count();
  }
  int devices() const;
  int blocks() const;
  bool divides_tensors() const;  // whether any stage has several tensor ranks
  // Returns a few words for each choice, to be shown to users.
  std::string Describe() const;
  friend auto operator<=>(const PlanDraft&, const PlanDraft&) = default;
};

PlanDraft DraftOf(const Plan& plan, const SearchProblem& problem);

// Returns StepOptions::overlap_tensor of a plan of the problem, for stages that share tokens within
// tensor groups.
bool OverlapsTensor(const PlanDraft& draft, const SearchProblem& problem);

// Returns whether two rank orders give different plans: the replicas of a stage next to each other,
// or the stages of a replica.
bool HasRankOrders(const PlanDraft& draft, const Cluster& cluster);

// Returns the same draft for all drafts of the same plan: settings without an effect have their
// usual values. A draft of one stage has one chunk and the schedule ScheduleOfOneStage().
PlanDraft Settled(PlanDraft draft, const SearchProblem& problem);

}  // namespace stagecraft
