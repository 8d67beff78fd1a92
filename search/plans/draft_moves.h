// DraftMoves: the drafts that differ from a given one by a single move.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "search/plans/plan_draft.h"
#include "search/plans/plan_maker.h"

namespace stagecraft {

// DraftMoves finds the drafts that are one move away. A move changes one thing:
//   a layer goes from one stage to another
//   one stage recomputes differently, or all do
//   micro-batch size, ZeRO stage, or pipeline schedule with its chunks
//   sequence parallelism, or which ranks are neighbours
//   a factor of 2 or 3 goes from one degree to another (tensor, context, data, pipeline)
//   a stage's tensor degree doubles or halves; two stages merge; a stage is split, added or
//   removed, or goes to another pool
//   two neighbouring stages change places
// and on unlike GPU types
//   a stage's replicas double or halve, in exchange for tensor ranks or for devices, or one
//   replica is added or removed
//   a replica goes to another pool, a stage takes devices of another pool in addition, or two
//   neighbouring stages merge or share out their replicas evenly
// Most of the results are plans, but only PlanMaker can tell. All are Settled().
class DraftMoves {
 public:
  // The problem must outlive it.
  explicit DraftMoves(const SearchProblem& problem);

  // Returns all neighbours, each once, in a fixed order.
  std::vector<PlanDraft> All(const PlanDraft& draft) const;
  // Returns those that leave the stages as they are: with another micro-batch size, ZeRO stage, or
  // pipeline schedule and chunks, and with any two of these changes at once.
  std::vector<PlanDraft> OfShape(const PlanDraft& draft) const;
  // Returns a neighbour that is a plan: draws a kind of move, then a move of that kind. No value if
  // hundreds of draws give no plan.
  std::optional<PlanDraft> Draw(const PlanDraft& draft, Random& random) const;

 private:
  using Drafts = std::vector<PlanDraft>;
  using Kind = void (DraftMoves::*)(const PlanDraft&, Drafts&) const;
  // Returns all neighbours by these kinds of moves, settled and each once.
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
  const std::vector<PipelineSchedule> schedules_;
  const std::vector<std::string> rank_orders_;
  const std::vector<Pool> pools_;
};

// Spreads `blocks` over the stages in proportion to their devices; what is left over goes to the
// first stages.
void SpreadBlocks(int blocks, PlanDraft& draft);

}  // namespace stagecraft
