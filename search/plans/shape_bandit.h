// ShapeBandit: of which shape to draw plans next, learned from the step times of its plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {

// REINFORCE over logits, with a running mean and deviation of the rewards as baseline.
class ShapeBandit {
 public:
  // All shapes are equally likely at first. `rate` is by how much, at most, a reward one deviation
  // above the mean raises the logit of its shape.
  ShapeBandit(size_t shapes, double rate) : logits_(shapes, 0.0), rate_(rate) {}

  // Precondition: some shape has not been left.
  size_t Draw(Random& random) const;
  // Probabilities of the shapes, 1 in all; 0 for those that were left. Same precondition.
  std::vector<double> Shares() const;
  // No more plans of that shape are drawn.
  void Leave(size_t shape);
  // Puts another shape in the place of one that was left, as likely as the likeliest.
  void Renew(size_t shape);
  // Learns from the `reward` of a batch of that shape.
  void Learn(size_t shape, double reward);

 private:
  std::vector<double> logits_;
  const double rate_;
  double mean_ = 0, variance_ = 0;
  int64_t count_ = 0;
};

}  // namespace stagecraft
