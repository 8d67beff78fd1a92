// The messages of a gradient synchronisation that NCCL does not run, over the nodes
// of a cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/op.h"
#include "sim/network/channel_patterns.h"

namespace stagecraft {

// How many flows MakeSyncChannels() makes; of BytePS with servers at most.
int64_t CountSyncFlows(const Op& op);

// `by_node`: the op's ranks, node by node (scale-up domains); for a hierarchical
// reduction equally many on each. `servers`: op.sync.servers devices beyond them.
// Peers of gossip are drawn from the number of ranks, so the same op has the same.
// Precondition: at least two ranks, the op's method is not NCCL's.
ChannelPattern MakeSyncChannels(const Op& op, std::span<const std::vector<int>> by_node,
                                std::span<const int> servers);

}  // namespace stagecraft
