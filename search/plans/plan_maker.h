// PlanMaker: makes plans of drafts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "costmodel/units.h"
#include "search/plans/plan_draft.h"
#include "search/problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// The devices of a pool are taken stage by stage, and within a stage replica by replica; with
// kStagesFirstRankOrder replica by replica, and within a replica stage by stage. Any other rank
// order requires stages of equal devices. If a stage lies in several pools, each replica takes
// micro-batches according to the speed of its GPUs, so that the last one ends as soon as possible.
//
// PlanMaker remembers how fast GPU types are. Its methods may be called from any thread.
class PlanMaker {
 public:
  // The problem must outlive it.
  explicit PlanMaker(const SearchProblem& problem);

  // Returns the plan of a draft. Throws InputError if there is no such plan, if the problem's
  // choices rule it out, or if it leaves devices of a homogeneous cluster unused although
  // DeviceCounts asks for all.
  Plan Make(const PlanDraft& draft) const;
  bool IsPlan(const PlanDraft& draft) const;

 private:
  void CheckChoices(const PlanDraft& draft) const;
  void CheckDevices(const PlanDraft& draft) const;
  // Returns the number of micro-batches of each replica.
  std::vector<int> Shares(const PlanDraft& draft, const DraftStage& stage) const;
  // Returns the time of one micro-batch through a transformer block, forward and backward: that of
  // the device or, if it is longer, that of the host that launches it.
  Duration BlockTime(const PlanDraft& draft, const DraftStage& stage, int pool) const;

  const SearchProblem& problem_;
  const std::vector<Pool> pools_;
  mutable std::mutex mutex_;
  mutable std::map<std::array<int64_t, 6>, Duration> block_times_;
};

}  // namespace stagecraft
