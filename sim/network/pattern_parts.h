// What patterns of messages are made of.
#pragma once

#include <cstdint>
#include <span>

#include "sim/network/message_pattern.h"

namespace stagecraft {

// So many messages from one participant to another, all at once and of equal size,
// of `bytes` together. Each waits for `needs` and counts at `counter`.
void AddFlows(MessagePair pair, double bytes, int flows, int32_t counter,
              std::span<const MessageNeed> needs, MessagePattern* pattern);

// `steps` messages from each participant of the ring to the next, each after what the
// one before sent a step earlier.
void AddRing(std::span<const int> ring, int steps, double bytes_of_step, MessagePattern* pattern);

// The parent of a rank in a binary tree over 0 ... ranks - 1 in order, by the lowest
// bit set, so that every odd rank is a leaf; -1 for the root, 0: the tree of NCCL's
// trees.cc.
int TreeParent(int rank, int ranks);
// The same tree over the ranks in another order, where leaves are inner ranks and the
// other way round: mirrored for an even number, turned by one for an odd.
int SecondTreeParent(int rank, int ranks);

}  // namespace stagecraft
