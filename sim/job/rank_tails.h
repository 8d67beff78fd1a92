// ExpectedTail(): the wait of a synchronous step for the slowest of its data-parallel ranks.
#pragma once

#include "costmodel/random.h"
#include "costmodel/units.h"

namespace stagecraft {

// Every one of `ranks` takes an exponential time of this mean beyond what all take, and a step goes
// on when all but `dropped` of them are ready. Preconditions: 0 <= dropped < ranks.
//
// Returns the mean wait: mean (H_ranks - H_dropped), with the harmonic numbers H.
Duration ExpectedTail(int ranks, int dropped, Duration mean);
// Draws one wait, in O(ranks - dropped): the gaps between ordered exponentials are exponential
// (Rényi, "On the theory of order statistics", 1953).
Duration DrawTail(int ranks, int dropped, Duration mean, Random& random);

}  // namespace stagecraft
