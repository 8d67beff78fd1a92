// SmoothCuts(): the cost of the best cut of a chain as a smooth function of the costs of its
// pieces, on a tape (Mensch and Blondel, "Differentiable Dynamic Programming", ICML 2018).
#pragma once

#include "search/learning/tape.h"

namespace stagecraft {

// Pieces numbers the pieces [begin, end) of a chain of `length` nodes.
struct Pieces {
  int length = 1;
  int count() const { return length * (length + 1) / 2; }
  int index(int begin, int end) const {  // 0 <= begin < end <= length
    return begin * length - begin * (begin - 1) / 2 + end - begin - 1;
  }
};

// `energies` are stages x pieces. Returns the least sum of energies over all ways to cut the chain
// into this number of pieces that are not empty, with min_gamma(x) = -gamma log sum exp(-x / gamma)
// in place of min: at most the least sum, and at most gamma * log(ways) below it. The gradient of
// an energy is the Gibbs marginal of its piece: the probability that a cut has the piece if cuts
// are drawn by exp(-energy / gamma). Precondition: at most `length` stages. O(stages * pieces).
Variable SmoothCuts(Tape& tape, Variable energies, const Pieces& pieces, double gamma);

// Returns the marginals themselves, stages x pieces.
Matrix CutMarginals(const Matrix& energies, const Pieces& pieces, double gamma);

// Returns the expected time of each stage, stages x 1. Row s of `ends` (stages + 1 x length + 1)
// has the probabilities of the positions at which stage s begins and the one before it ends;
// `seconds` is stages x pieces. Pieces that would be empty or run backwards take `never`.
Variable ExpectedSeconds(Tape& tape, Variable ends, Variable seconds, const Pieces& pieces,
                         double never);

// Returns the value of `hard` with the gradient of `soft` (straight-through estimator; Bengio et
// al., 2013).
Variable StraightThrough(Tape& tape, Variable soft, Matrix hard);

}  // namespace stagecraft
