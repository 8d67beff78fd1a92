// PieceTimes: what every piece of a chain takes on every choice of devices; the
// constants of a relaxed stage problem.
#pragma once

#include <functional>
#include <vector>

#include "search/learning/tape.h"
#include "search/partition/stages/smooth_cuts.h"
#include "search/partition/stages/stage_costs.h"

namespace stagecraft {

// A stage that holds nodes [begin, end) of a chain, and what follows it.
struct PieceStage {
  int begin = 0;
  int end = 0;
  StageReplicas on;
  int stages_behind = 0;
  int devices_behind = 0;
};

// Seconds; where it does not fit its memory, many times as much.
using PieceScore = std::function<double(const PieceStage&)>;

// Along a topological order of the problem's graph: StageCosts::Score. The problem must
// outlive it.
PieceScore ScorePieces(const StageProblem& problem, const std::vector<int>& order);

class PieceTimes {
 public:
  PieceTimes(int length, std::vector<StageReplicas> choices, PieceScore score);

  const Pieces& pieces() const { return pieces_; }
  const std::vector<StageReplicas>& choices() const { return choices_; }

  // Scores with nothing behind, choices x pieces.
  const Matrix& scores() const { return scores_; }

  // Ends (stage_cuts.h) that make the slowest stage as fast as possible on the
  // given replicas, by stage and in order; memory counts with what is behind.
  // Exact. O(stages * pieces).
  std::vector<int> BestEnds(const std::vector<StageReplicas>& replicas) const;

 private:
  std::vector<StageReplicas> choices_;
  Pieces pieces_;
  PieceScore score_;
  Matrix scores_;
};

}  // namespace stagecraft
