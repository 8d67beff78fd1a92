// Chimera (Li and Hoefler, SC21): pipelines in two directions, merged so that each
// fills the other's bubbles.
#pragma once

#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// How forwards are to take as long as backwards.
enum class ChimeraSlots {
  kOnePass,     // one forward, then one backward: best where both take as long
  kTwoForwards  // two forwards, one after the other, to every single backward: best where
                // backwards take twice as long. The paper's forward doubling; where the two
                // are halves of one micro-batch, counted as two, its backward halving.
};

// For ChunkMap::Bidirectional(stages, pairs): stages is a multiple of 2 * pairs. Any
// number of micro-batches; they run in units of `stages`, or of twice that with two
// forwards. Where the last unit is full and forwards (or two of them) take as long as
// backwards, each of D stages waits for at most D / pairs - 2 slots in all, however many
// units. With one pass to a slot, N = D micro-batches and backwards no shorter than
// forwards, a step of two pipelines takes D F + (2 D - 2) B.
//
// In flight are from D / 2 + 1 at the ends to D in the middle where pairs is 1, never more
// than D; with two forwards never more than 2 D.
PassOrders ChimeraOrders(int stages, int pairs, int micro_batches,
                         ChimeraSlots slots = ChimeraSlots::kOnePass);

}  // namespace stagecraft
