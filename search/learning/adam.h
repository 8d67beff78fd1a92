// Adam: steps of gradient descent for a set of learned matrices.
#pragma once

#include <vector>

#include "search/learning/tape.h"

namespace stagecraft {

// The defaults are those of Kingma and Ba, "Adam", ICLR 2015, except for the rate, which is a usual
// one for policies.
struct AdamOptions {
  double rate = 3e-4;
  double first_decay = 0.9;
  double second_decay = 0.999;
  double epsilon = 1e-8;
  // The greatest Euclidean length over all matrices; longer gradients are shortened. 0: no limit.
  double longest_gradient = 0;
};

class Adam {
 public:
  // The parameters must outlive this object, and keep their places and shapes.
  Adam(std::vector<Parameter*> parameters, const AdamOptions& options);

  // Moves every value against its gradient, and sets the gradients to zero.
  void Step();

 private:
  struct Moments {
    Matrix first;
    Matrix second;
  };
  std::vector<Parameter*> parameters_;
  std::vector<Moments> moments_;
  AdamOptions options_;
  int steps_ = 0;
};

}  // namespace stagecraft
