// PlanMaker: the plans that drafts stand for.
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
// kStagesFirstRankOrder replicas do, stage by stage; any other rank order places stages of
// equal devices. Of a stage in several pools every replica takes micro-batches as its boards
// are fast, so that the last to end ends as soon as can be.
//
// Remembers how fast boards are. May be called from any thread.
class PlanMaker {
 public:
  // The problem outlives it.
  explicit PlanMaker(const SearchProblem& problem);

  // Throws InputError where there is no such plan, or the problem's choices rule it out;
  // a homogeneous cluster is filled where DeviceCounts wants all devices.
  Plan Make(const PlanDraft& draft) const;
  bool IsPlan(const PlanDraft& draft) const;

 private:
  void CheckChoices(const PlanDraft& draft) const;
  void CheckDevices(const PlanDraft& draft) const;
  // Micro-batches of each replica.
  std::vector<int> Shares(const PlanDraft& draft, const DraftStage& stage) const;
  // Of one micro-batch through a block, there and back: the device's or, where that is
  // longer, the host's that launches it.
  Duration BlockTime(const PlanDraft& draft, const DraftStage& stage, int pool) const;

  const SearchProblem& problem_;
  const std::vector<Pool> pools_;
  mutable std::mutex mutex_;
  mutable std::map<std::array<int64_t, 6>, Duration> block_times_;
};

}  // namespace stagecraft
