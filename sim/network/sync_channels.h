// The messages of a gradient synchronisation that NCCL does not run, over the nodes of a cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/op.h"
#include "sim/network/channel_patterns.h"

namespace stagecraft {

// How many flows MakeSyncChannels() makes; for BytePS with servers an upper bound.
int64_t CountSyncFlows(const Op& op);

// `by_node` are the ranks of the op, node by node (scale-up domains); for a hierarchical reduction
// there must be equally many on each. `servers` are op.sync.servers devices beyond them. The peers
// of gossip are drawn by the number of ranks, so the same op always has the same peers.
// Preconditions: at least two ranks, and the method of the op is not NCCL's.
ChannelPattern MakeSyncChannels(const Op& op, std::span<const std::vector<int>> by_node,
                                std::span<const int> servers);

}  // namespace stagecraft
