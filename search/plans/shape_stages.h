// ShapeStages: the stages of a shape as pieces of a chain of transformer blocks and units of
// devices, as the solvers of search/partition/stages see them.
#pragma once

#include <vector>

#include "search/partition/stages/piece_times.h"
#include "search/partition/stages/stage_problem.h"
#include "search/plans/plan_draft.h"
#include "search/plans/stage_table.h"

namespace stagecraft {

// A unit is what the least choice takes of a pool. A StageReplicas is a number of units for a
// stage, and its kind is the pool. How a stage divides its devices into replicas and tensor ranks,
// and what it recomputes, is chosen by the best score.
class ShapeStages {
 public:
  ShapeStages(const SearchProblem& problem, const PlanDraft& shape);

  const StageTable& table() const { return table_; }
  int stages() const { return static_cast<int>(table_.shape().stages.size()); }
  // For a homogeneous cluster that is to be filled, the one degree that fills it evenly, if there
  // is one; degrees that are no multiple of the least are left out. Empty if there is no place for
  // the shape.
  const std::vector<StageReplicas>& choices() const { return choices_; }
  const std::vector<int>& units() const { return units_; }  // by pool
  // Seconds of a micro-batch; many times as much if nothing fits.
  double Score(const PieceStage& stage) const;
  // What a stage would take at least if all were on the fastest choice and equally long.
  double LeastSeconds() const;
  // Halves and doubles degrees until no pool has too few units, and until a cluster that is to be
  // filled is full, as far as possible.
  void Fit(std::vector<StageReplicas>& stages) const;

  PlanDraft Draft(const std::vector<int>& ends, const std::vector<StageReplicas>& stages) const;

  // A chain of transformer blocks whose times are those of the first choice: what a policy sees.
  StageProblem AsStageProblem() const;

 private:
  struct Fitted {
    int choice = 0;  // of the table
    double score = 0;
  };
  Fitted FitChoice(const PieceStage& stage) const;

  const SearchProblem& problem_;
  const StageTable table_;
  const bool fills_;
  int unit_ = 1;  // devices
  std::vector<StageReplicas> choices_;
  std::vector<std::vector<int>> in_table_;  // by choice
  std::vector<int> units_;
};

}  // namespace stagecraft
