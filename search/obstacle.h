// Obstacle: why none of the plans fits, by the plan that comes nearest.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "search/plan_space.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

class Obstacle {
 public:
  // Notes a plan that its bound rules out.
  void NoteStates(const MemoryNeed& need, const PlanSpace& space, size_t index);
  // Whether a plan that was evaluated and does not fit comes nearer than those so far.
  bool IsNearer(const Evaluation& evaluation) const;
  void NoteStage(const Evaluation& evaluation, const std::string& choices);

  // A sentence about the plan, among those noted, that comes closest to fitting; empty if none was
  // noted.
  const std::string& text() const { return text_; }

 private:
  // Takes what a plan needs over the capacity; the plan nearest to fitting is reported.
  bool Take(double share);

  double least_share_ = std::numeric_limits<double>::infinity();
  std::string text_;
};

}  // namespace stagecraft
