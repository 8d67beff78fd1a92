// PieceTimes: what every piece of one topological order takes on every choice
// of devices; the constants of a relaxed stage problem.
#pragma once

#include <vector>

#include "search/learning/tape.h"
#include "search/partition/stages/smooth_cuts.h"
#include "search/partition/stages/stage_costs.h"

namespace stagecraft {

class PieceTimes {
 public:
  // `problem` must outlive this. `order` is topological.
  PieceTimes(const StageProblem& problem, std::vector<int> order);

  const std::vector<int>& order() const { return order_; }
  const Pieces& pieces() const { return pieces_; }
  const std::vector<StageReplicas>& choices() const { return choices_; }

  // Scores (StageCosts::Score), choices x pieces, with no devices behind.
  const Matrix& scores() const { return scores_; }

  // Ends (stage_cuts.h) that make the slowest stage as fast as possible on the
  // given replicas, by stage and in order; memory counts with what is behind.
  // Exact. O(stages * pieces).
  std::vector<int> BestEnds(const std::vector<StageReplicas>& replicas) const;

 private:
  double Score(int begin, int end, const StageReplicas& on, int behind) const;

  StageCosts costs_;
  std::vector<StageReplicas> choices_;
  std::vector<int> order_;
  Pieces pieces_;
  std::vector<StageSizes> before_;  // by position
  std::vector<int64_t> crossing_;   // bytes, by position
  Matrix scores_;
};

}  // namespace stagecraft
