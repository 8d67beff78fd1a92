// ShapeBandit: decides of which shape to draw plans next, and learns from the step times of its
// plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {

// ShapeBandit is REINFORCE over logits, with a running mean and deviation of the rewards as
// baseline.
class ShapeBandit {
 public:
  // All shapes are equally likely at first. A reward one deviation above the mean raises the logit
  // of its shape by at most `rate`.
  ShapeBandit(size_t shapes, double rate) : logits_(shapes, 0.0), rate_(rate) {}

  // Returns a shape, drawn by its probability. Precondition: some shape has not been left.
  size_t Draw(Random& random) const;
  // Returns the probabilities of the shapes, which add up to 1; 0 for those that were left. The
  // precondition is the same.
  std::vector<double> Shares() const;
  // Leaves a shape: it is not drawn any more.
  void Leave(size_t shape);
  // Puts a new shape in the place of one that was left, as likely as the likeliest.
  void Renew(size_t shape);
  // Learns from the reward of a batch of that shape.
  void Learn(size_t shape, double reward);

 private:
  std::vector<double> logits_;
  const double rate_;
  double mean_ = 0, variance_ = 0;
  int64_t count_ = 0;
};

}  // namespace stagecraft
