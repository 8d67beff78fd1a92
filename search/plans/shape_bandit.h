// ShapeBandit: which shape to draw plans of next, learned from what its plans take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {

// REINFORCE over logits, with a running mean and deviation of the rewards as baseline.
class ShapeBandit {
 public:
  // All as likely. `rate`: by how much, at most, a reward one deviation above the mean raises
  // its shape's logit.
  ShapeBandit(size_t shapes, double rate) : logits_(shapes, 0.0), rate_(rate) {}

  // Precondition: not all shapes are left.
  size_t Draw(Random& random) const;
  // Chances of the shapes, 1 in all; 0 for those that are left. Precondition as above.
  std::vector<double> Shares() const;
  // No more plans of that shape.
  void Leave(size_t shape);
  // Another shape in the place of one that is left, as likely as the likeliest.
  void Renew(size_t shape);
  // `reward` of a batch of that shape.
  void Learn(size_t shape, double reward);

 private:
  std::vector<double> logits_;
  const double rate_;
  double mean_ = 0, variance_ = 0;
  int64_t count_ = 0;
};

}  // namespace stagecraft
