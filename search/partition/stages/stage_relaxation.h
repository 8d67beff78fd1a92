// StageRelaxation: one start of SearchByGradient, and its way down.
#pragma once

#include <vector>

#include "costmodel/random.h"
#include "search/learning/adam.h"
#include "search/partition/stages/piece_times.h"
#include "search/partition/stages/stage_gradient.h"

namespace stagecraft {

class StageRelaxation {
 public:
  // `problem` and `times` must outlive this. `best`: a score to compare with.
  StageRelaxation(const StageProblem& problem, const PieceTimes& times, int stages,
                  const StageGradientOptions& options, double best, Random random);

  // One step of Adam; `progress` from 0 to 1.
  void Step(double progress, double best);

  // The plan of the likeliest boundaries and degrees.
  StagePlan RoundLogits() const;
  // The same degrees with the boundaries that are best for them.
  StagePlan RoundDegrees() const;

 private:
  Variable Shares(Tape& tape, Variable logits, double heat, bool is_hard);
  Variable Boundaries(Tape& tape, double heat, bool is_hard);
  Variable DevicesMissing(Tape& tape, Variable degrees) const;
  std::vector<StageReplicas> RoundedReplicas() const;
  // The boundary logits at which the smooth programme starts them.
  void StartBoundaries(double best);

  const StageProblem& problem_;
  const PieceTimes& times_;
  const int stages_;
  const StageGradientOptions options_;
  Random random_;
  Parameter degrees_;     // stages x choices
  Parameter boundaries_;  // stages - 1 x length - 1; position p is column p - 1
  Adam adam_;
};

// Fewer replicas or other kinds until the devices suffice; at most as many
// stages as devices.
void FitReplicas(const StageProblem& problem, std::vector<StageReplicas>& replicas);

}  // namespace stagecraft
