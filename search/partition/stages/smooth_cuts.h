// The best cut of a chain as a smooth function of what its pieces cost, on a
// tape (Mensch and Blondel, "Differentiable Dynamic Programming", ICML 2018).
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

// `energies`: stages x pieces. The least sum of energies over all ways to cut
// the chain into that many pieces that are not empty, with min_gamma(x) =
// -gamma log sum exp(-x / gamma) for min: at most the least, and at most gamma *
// log(ways) below it. The gradient of an energy is the Gibbs marginal of its
// piece: the probability that a cut drawn by exp(-energy / gamma) has it. Needs
// at most `length` stages. O(stages * pieces).
Variable SmoothCuts(Tape& tape, Variable energies, const Pieces& pieces, double gamma);

// The marginals themselves, stages x pieces.
Matrix CutMarginals(const Matrix& energies, const Pieces& pieces, double gamma);

// What a stage takes at the mean: `ends` (stages + 1 x length + 1) are shares of
// where a stage begins and the one before ends, `seconds` is stages x pieces.
// stages x 1; pieces that would be empty or run backwards take `never`.
Variable ExpectedSeconds(Tape& tape, Variable ends, Variable seconds, const Pieces& pieces,
                         double never);

// Forward `hard`, backward as if it were `soft` (Bengio et al., 2013).
Variable StraightThrough(Tape& tape, Variable soft, Matrix hard);

}  // namespace stagecraft
