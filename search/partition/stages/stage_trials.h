// StageTrials: what a search may spend, what it has spent, and the best plan so far. All solvers of
// stage problems count their evaluations in one of these, so that they can be compared.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "search/partition/stages/stage_problem.h"
#include "search/partition/stop_sign.h"
#include "search/solution.h"
#include "search/stopwatch.h"

namespace stagecraft {

class StageTrials {
 public:
  explicit StageTrials(const Budget& budget);

  bool IsSpent() const;
  // Counts one evaluation. Among equal plans the first is kept.
  void Add(double score, const StagePlan& plan);

  const Budget& budget() const { return budget_; }
  // The stop of the budget, to be asked where much time passes between evaluations.
  const StopSign& stop() const { return stop_; }
  int64_t evaluations() const { return evaluations_; }
  // Returns the share of the evaluations that are used up; 0 without a limit of evaluations.
  double share_spent() const;
  double best_score() const { return best_score_; }  // infinity if there is none yet
  const StagePlan& best() const { return best_; }
  const std::vector<CurvePoint>& curve() const { return curve_; }

 private:
  Budget budget_;
  StopSign stop_;
  Stopwatch watch_;
  int64_t evaluations_ = 0;
  double best_score_ = std::numeric_limits<double>::infinity();
  StagePlan best_;
  std::vector<CurvePoint> curve_;
};

}  // namespace stagecraft
