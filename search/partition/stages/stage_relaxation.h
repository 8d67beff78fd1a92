// StageRelaxation: stages of a chain as shares instead of choices, improved by gradient descent.
#pragma once

#include <functional>
#include <vector>

#include "costmodel/random.h"
#include "search/learning/adam.h"
#include "search/partition/stages/piece_times.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct RelaxationOptions {
  double rate = 0.3;  // of Adam, on logits
  // Temperatures of the Gumbel-softmax, which falls geometrically from hot to cold.
  double hot = 2;
  double cold = 0.1;
  // Temperatures of the smooth maximum and of the smooth dynamic programme, as shares of the best
  // known score.
  double blunt = 0.3;
  double sharp = 0.02;
};

// StageDevices are the devices that stages can be given.
struct StageDevices {
  std::vector<int> counts;  // devices, by kind
  // Turns any choices into ones that the devices allow, with few changes.
  std::function<void(std::vector<StageReplicas>&)> fit;
};

// RoundedStages is where a chain is cut (stage_cuts.h), and what each piece runs on.
struct RoundedStages {
  std::vector<int> ends;
  std::vector<StageReplicas> replicas;
};

class StageRelaxation {
 public:
  // `times` must outlive this object. `best` is the best known score, by which times are scaled.
  // Throws Stopped.
  StageRelaxation(StageDevices devices, const PieceTimes& times, int stages,
                  const RelaxationOptions& options, double best, Random random,
                  const StopSign& stop = {});

  // Makes one step of Adam; `progress` goes from 0 to 1. If it throws Stopped, nothing has changed.
  void Step(double progress, double best, const StopSign& stop = {});

  // Returns the likeliest boundaries and degrees.
  RoundedStages RoundLogits() const;
  // Returns the same degrees with the boundaries that are best for them.
  RoundedStages RoundDegrees() const;

 private:
  Variable Shares(Tape& tape, Variable logits, double heat, bool is_hard);
  Variable Boundaries(Tape& tape, double heat, bool is_hard);
  Variable DevicesMissing(Tape& tape, Variable degrees) const;
  std::vector<StageReplicas> RoundedReplicas() const;
  // Sets the first boundary logits by the marginals of the smooth dynamic programme.
  void StartBoundaries(double best);

  const StageDevices devices_;
  const PieceTimes& times_;
  const int stages_;
  const RelaxationOptions options_;
  Random random_;
  Parameter degrees_;     // stages x choices
  Parameter boundaries_;  // stages - 1 x length - 1; position p is column p - 1
  Adam adam_;
};

}  // namespace stagecraft
