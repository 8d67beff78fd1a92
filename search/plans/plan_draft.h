// PlanDraft: a plan in the form in which a search changes it, namely what all stages share, and
// what each has of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/pooled_plan.h"
#include "search/problem.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// The pools in which stages can lie: the node groups, or all of a homogeneous cluster.
std::vector<Pool> DraftPools(const Cluster& cluster);

struct DraftStage {
  std::vector<int> replicas;  // by pool
  int tensor = 1;
  int blocks = 0;  // over all its chunks; embedding and head at the ends are not counted
  Recompute recompute = Recompute::kNone;

  int replica_count() const;
  int pool() const;       // the first pool in which it lies
  bool is_mixed() const;  // whether it lies in several
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
  std::vector<DraftStage> stages;

  int replica_count() const;  // of the stage with most replicas
  int stage_devices(const DraftStage& stage) const {
    return stage.tensor * context * stage.replica_count();
  }
  int devices() const;
  int blocks() const;
  bool divides_tensors() const;  // in some stage
  // A few words for each choice, for people.
  std::string Describe() const;
  friend auto operator<=>(const PlanDraft&, const PlanDraft&) = default;
};

PlanDraft DraftOf(const Plan& plan, const SearchProblem& problem);

// Whether it makes a different plan to place the replicas of a stage beside each other instead of
// the stages of a replica.
bool HasRankOrders(const PlanDraft& draft, const Cluster& cluster);

// Returns one draft for all drafts of the same plan: what shares, divides or moves nothing has its
// usual value. One stage is no pipeline: it has no chunks, and no schedule but
// ScheduleOfOneStage().
PlanDraft Settled(PlanDraft draft, const SearchProblem& problem);

}  // namespace stagecraft
