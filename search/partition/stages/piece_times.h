// PieceTimes: the time of every piece of a chain on every choice of devices; these are the
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

// Seconds; many times as much if the piece does not fit its memory.
using PieceScore = std::function<double(const PieceStage&)>;

// Scores pieces along a topological order of the problem's graph by StageCosts::Score(). The
// problem must outlive it.
PieceScore ScorePieces(const StageProblem& problem, const std::vector<int>& order);

class PieceTimes {
 public:
  PieceTimes(int length, std::vector<StageReplicas> choices, PieceScore score);

  const Pieces& pieces() const { return pieces_; }
  const std::vector<StageReplicas>& choices() const { return choices_; }

  // Scores with nothing behind the piece, choices x pieces.
  const Matrix& scores() const { return scores_; }

  // The ends (stage_cuts.h) that make the slowest stage as fast as possible on the given replicas,
  // by stage and in order; memory counts with what is behind. Exact. O(stages * pieces).
  std::vector<int> BestEnds(const std::vector<StageReplicas>& replicas) const;

 private:
  std::vector<StageReplicas> choices_;
  Pieces pieces_;
  PieceScore score_;
  Matrix scores_;
};

}  // namespace stagecraft
