// Chimera (Li and Hoefler, SC21): pipelines in two directions, merged so that each
// fills the other's bubbles.
#pragma once

#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// How slots make forwards take as long as backwards.
enum class ChimeraSlots {
  kOnePass,     // one forward, then one backward: best if both take equally long
  kTwoForwards  // two forwards, one after the other, for every single backward: best if
                // backwards take twice as long. This is the paper's forward doubling; if the two
                // are halves of one micro-batch, counted as two, it is the paper's backward
                // halving.
};

// Returns pass orders for ChunkMap::Bidirectional(stages, pairs), where stages is a multiple of
// 2 * pairs. Any number of micro-batches is possible; they run in units of `stages`, or of twice
// that with two forwards to a slot. If the last unit is full and a slot's forwards take as long as
// a backward, each of D stages waits for at most D / pairs - 2 slots in all, however many units
// there are. With one pass to a slot, N = D micro-batches and backwards no shorter than forwards, a
// step of two pipelines takes D F + (2 D - 2) B.
//
// Between D / 2 + 1 (at the ends) and D (in the middle) micro-batches are in flight if pairs is 1,
// and never more than D; with two forwards never more than 2 D.
PassOrders ChimeraOrders(int stages, int pairs, int micro_batches,
                         ChimeraSlots slots = ChimeraSlots::kOnePass);

}  // namespace stagecraft
