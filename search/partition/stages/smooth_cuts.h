// The best cut of a chain as a smooth function of the costs of its pieces, on a tape (Mensch and
// Blondel, "Differentiable Dynamic Programming", ICML 2018).
#pragma once

#include "search/learning/tape.h"

namespace stagecraft {

// The pieces [begin, end) of a chain of `length`, numbered.
struct Pieces {
  int length = 1;
  int count() const { return length * (length + 1) / 2; }
  int index(int begin, int end) const {  // 0 <= begin < end <= length
    return begin * length - begin * (begin - 1) / 2 + end - begin - 1;
  }
};

// `energies` are stages x pieces. The least sum of energies over all ways to cut the chain into
// this number of pieces that are not empty, with min_gamma(x) = -gamma log sum exp(-x / gamma) in
// place of min: at most the least sum, and at most gamma * log(ways) below it. The gradient of an
// energy is the Gibbs marginal of its piece: the probability that a cut drawn by exp(-energy /
// gamma) has it. Precondition: at most `length` stages. O(stages * pieces).
Variable SmoothCuts(Tape& tape, Variable energies, const Pieces& pieces, double gamma);

// The marginals themselves, stages x pieces.
Matrix CutMarginals(const Matrix& energies, const Pieces& pieces, double gamma);

// The mean time of each stage, stages x 1. `ends` (stages + 1 x length + 1) are the probabilities
// of where a stage begins and the one before ends, `seconds` is stages x pieces. Pieces that would
// be empty or run backwards take `never`.
Variable ExpectedSeconds(Tape& tape, Variable ends, Variable seconds, const Pieces& pieces,
                         double never);

// Has the value of `hard`, and the gradient of `soft` (straight-through estimator; Bengio et al.,
// 2013).
Variable StraightThrough(Tape& tape, Variable soft, Matrix hard);

}  // namespace stagecraft
