// The parts that patterns of messages are made of.
#pragma once

#include <cstdint>
#include <span>

#include "sim/network/message_pattern.h"

namespace stagecraft {

// Adds `flows` messages of equal size from one participant to another, all at once, with `bytes` in
// all. Each waits for `needs` and is counted at `counter`.
void AddFlows(MessagePair pair, double bytes, int flows, int32_t counter,
              std::span<const MessageNeed> needs, MessagePattern* pattern);

// Adds `steps` messages from each participant of the ring to the next, each after the one that the
// participant before it sent one step earlier.
void AddRing(std::span<const int> ring, int steps, double bytes_of_step, MessagePattern* pattern);

// Adds what the participants `part` of a ring send, the last of them to `next`, if the ring
// consists of such parts that all do the same: then the first one receives whenever the last one
// sends.
void AddRingPart(std::span<const int> part, int next, int steps, double bytes_of_step,
                 MessagePattern* pattern);

// Returns the parent of a rank in a binary tree over 0 ... ranks - 1 in order, by the lowest bit
// that is set, so that every odd rank is a leaf; -1 for the root, which is 0. This is the tree of
// NCCL's trees.cc.
int TreeParent(int rank, int ranks);
// Does the same for a tree over the ranks in another order, in which the leaves of the first are
// inner ranks and vice versa: mirrored for an even number of ranks, turned by one for an odd
// number.
int SecondTreeParent(int rank, int ranks);

}  // namespace stagecraft
