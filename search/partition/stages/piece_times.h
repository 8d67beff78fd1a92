// PieceTimes: the time of every piece of a chain on every choice of devices: the constants of a
// relaxed stage problem.
#pragma once

#include <functional>
#include <vector>

#include "search/learning/tape.h"
#include "search/partition/stages/smooth_cuts.h"
#include "search/partition/stages/stage_costs.h"

namespace stagecraft {

// PieceStage is a stage that holds nodes [begin, end) of a chain, with what follows it.
struct PieceStage {
  int begin = 0;
  int end = 0;
  StageReplicas on;
  int stages_behind = 0;
  int devices_behind = 0;
};

// Seconds; many times as many if the piece does not fit in memory.
using PieceScore = std::function<double(const PieceStage&)>;

// Returns a function that scores pieces along a topological order of the problem's graph by
// StageCosts::Score(). The problem must outlive it.
PieceScore ScorePieces(const StageProblem& problem, const std::vector<int>& order);

class PieceTimes {
 public:
  PieceTimes(int length, std::vector<StageReplicas> choices, PieceScore score);

  const Pieces& pieces() const { return pieces_; }
  const std::vector<StageReplicas>& choices() const { return choices_; }

  // The scores of pieces with nothing behind them, choices x pieces.
  const Matrix& scores() const { return scores_; }

  // Returns, by stage, the ends (stage_cuts.h) that make the slowest stage as fast as possible,
  // exactly, if stages have these replicas; memory depends on what is behind a stage. O(stages *
  // pieces).
  std::vector<int> BestEnds(const std::vector<StageReplicas>& replicas) const;

 private:
  std::vector<StageReplicas> choices_;
  Pieces pieces_;
  PieceScore score_;
  Matrix scores_;
};

}  // namespace stagecraft
