// DraftMoves: the drafts that lie next to one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_maker.h"

namespace stagecraft {

// A move changes one thing:
//   a block goes from one stage to another
//   one stage, or all, recompute otherwise
//   micro-batch, ZeRO stage, or schedule with its chunks
//   sequence parallelism, or which ranks are neighbours
//   a factor of 2 or 3 goes from one degree to another (tensor, context, data, pipeline)
//   a stage's tensor degree doubles or halves, two stages meet, one parts, comes or goes
//   two stages beside each other change places
// and where boards are unlike
//   a stage's replicas double or halve, for tensor ranks or devices, or one comes or goes
//   replicas of a stage go to other boards, or two stages exchange half of theirs
// Most of what is made so is a plan; PlanMaker knows. All are Settled().
class DraftMoves {
 public:
  // The problem outlives it.
  explicit DraftMoves(const SearchProblem& problem);

  // All of them, each once, in a fixed order.
  std::vector<PlanDraft> All(const PlanDraft& draft) const;
  // Those that leave the stages as they are: other micro-batches, ZeRO stages, schedules and
  // chunks, and any two of these at once.
  std::vector<PlanDraft> OfShape(const PlanDraft& draft) const;
  // One of them that is a plan: a kind of move, then one of that kind. Nothing where
  // hundreds drawn are none.
  std::optional<PlanDraft> Draw(const PlanDraft& draft, Random& random) const;

 private:
  using Drafts = std::vector<PlanDraft>;
  using Kind = void (DraftMoves::*)(const PlanDraft&, Drafts&) const;
  // All of these kinds, settled and each once.
  Drafts Find(std::span<const Kind> kinds, const PlanDraft& draft) const;
  void ShiftBlocks(const PlanDraft& draft, Drafts& found) const;
  void ChangeRecompute(const PlanDraft& draft, Drafts& found) const;
  void ChangeMicroBatch(const PlanDraft& draft, Drafts& found) const;
  void ChangeSharding(const PlanDraft& draft, Drafts& found) const;
  void ChangeOrder(const PlanDraft& draft, Drafts& found) const;
  void ChangeLayout(const PlanDraft& draft, Drafts& found) const;
  void TradeDegrees(const PlanDraft& draft, Drafts& found) const;
  void ChangeStages(const PlanDraft& draft, Drafts& found) const;
  void ChangeReplicas(const PlanDraft& draft, Drafts& found) const;
  void MoveReplicas(const PlanDraft& draft, Drafts& found) const;
  void SwapStages(const PlanDraft& draft, Drafts& found) const;

  const SearchProblem& problem_;
  const PlanMaker maker_;
  std::vector<Kind> kinds_;
  const std::vector<Recompute> recomputes_;
  const std::vector<PipelineOrder> orders_;
  const std::vector<std::string> rank_orders_;
  const std::vector<Pool> pools_;
};

// `blocks` spread over the stages in proportion to their devices, what is left over to
// the first ones.
void SpreadBlocks(int blocks, PlanDraft& draft);

}  // namespace stagecraft
