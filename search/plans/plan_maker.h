// PlanMaker: makes the plans for which drafts stand.
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

// Stages take the devices of their pools one after another, replica by replica; with
// kStagesFirstRankOrder replicas do, stage by stage; any other rank order places stages of equal
// devices. If a stage lies in several pools, each replica takes micro-batches by the speed of its
// GPUs, so that the last one ends as soon as possible.
//
// Remembers how fast GPU types are. May be called from any thread.
class PlanMaker {
 public:
  // The problem must outlive it.
  explicit PlanMaker(const SearchProblem& problem);

  // Throws InputError if there is no such plan, or if the problem's choices rule it out; a
  // homogeneous cluster is filled if DeviceCounts asks for all devices.
  Plan Make(const PlanDraft& draft) const;
  bool IsPlan(const PlanDraft& draft) const;

 private:
  void CheckChoices(const PlanDraft& draft) const;
  void CheckDevices(const PlanDraft& draft) const;
  // The micro-batches of each replica.
  std::vector<int> Shares(const PlanDraft& draft, const DraftStage& stage) const;
  // The time of one micro-batch through a transformer block, forward and backward: the device's or,
  // if that is longer, that of the host that launches it.
  Duration BlockTime(const PlanDraft& draft, const DraftStage& stage, int pool) const;

  const SearchProblem& problem_;
  const std::vector<Pool> pools_;
  mutable std::mutex mutex_;
  mutable std::map<std::array<int64_t, 6>, Duration> block_times_;
};

}  // namespace stagecraft
