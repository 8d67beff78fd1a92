// Obstacle: why none of the plans fits, explained by the plan that comes closest to fitting.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "search/plan_space.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

class Obstacle {
 public:
  // Notes a plan that its memory bound rules out.
  void NoteStates(const MemoryNeed& need, const PlanSpace& space, size_t index);
  // Returns whether a plan that was evaluated and does not fit comes closer to fitting than all
  // noted so far.
  bool IsNearer(const Evaluation& evaluation) const;
  void NoteStage(const Evaluation& evaluation, const std::string& choices);

  // Returns a sentence about the noted plan that comes closest to fitting; empty if none was noted.
  const std::string& text() const { return text_; }

 private:
  // `share` is the memory that a plan needs over the capacity. Returns whether it is the least so
  // far, and so the plan is to be reported.
  bool Take(double share);

  double least_share_ = std::numeric_limits<double>::infinity();
  std::string text_;
};

}  // namespace stagecraft
