// ShapeStages: the stages of a shape in the terms of the solvers of search/partition/stages, as
// pieces of a chain of transformer blocks on units of devices.
#pragma once

#include <vector>

#include "search/partition/stages/piece_times.h"
#include "search/partition/stages/stage_problem.h"
#include "search/plans/plan_draft.h"
#include "search/plans/stage_table.h"

namespace stagecraft {

// A unit is as many devices as the smallest choice takes. A StageReplicas is a number of units for
// a stage, and its kind is the pool. How a stage divides its devices into replicas and tensor
// ranks, and what it recomputes, is chosen by the best score.
class ShapeStages {
 public:
  ShapeStages(const SearchProblem& problem, const PlanDraft& shape);

  const StageTable& table() const { return table_; }
  int stages() const { return static_cast<int>(table_.shape().stages.size()); }
  // The devices that a stage may get. If a homogeneous cluster is to be filled and one tensor
  // degree fills it evenly, only that one is a choice. Choices that are not a multiple of the
  // smallest are left out. Empty if there is no place for the shape.
  const std::vector<StageReplicas>& choices() const { return choices_; }
  const std::vector<int>& units() const { return units_; }  // by pool
  // Returns the seconds that a stage takes for a micro-batch; many times as many if it does not fit
  // in memory.
  double Score(const PieceStage& stage) const;
  // Returns the seconds that each stage would take if all were equally long and on the fastest
  // choice.
  double LeastSeconds() const;
  // Halves and doubles degrees until no pool has too few units and, as far as possible, until a
  // cluster that is to be filled is full.
  void Fit(std::vector<StageReplicas>& stages) const;

  PlanDraft Draft(const std::vector<int>& ends, const std::vector<StageReplicas>& stages) const;

  // Returns what a policy sees: a chain of transformer blocks with the times of the first choice.
  StageProblem AsStageProblem() const;

 private:
  struct Fitted {
    int choice = 0;  // index in the table
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
