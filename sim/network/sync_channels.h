// The messages of a gradient synchronisation that NCCL does not run, over the nodes of a cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/op.h"
#include "sim/network/channel_patterns.h"

namespace stagecraft {

// Returns how many flows MakeSyncChannels() makes, or an upper bound for BytePS with servers.
int64_t CountSyncFlows(const Op& op);

// Returns the messages of a synchronisation. `by_node` has the ranks of the op, node by node
// (scale-up domains); for a hierarchical reduction all must have the same number. `servers` are
// op.sync.servers devices beyond them. The peers of gossip are drawn from the number of ranks as a
// seed, so the same op always has the same peers. Preconditions: at least two ranks, and the method
// of the op is not NCCL's.
ChannelPattern MakeSyncChannels(const Op& op, std::span<const std::vector<int>> by_node,
                                std::span<const int> servers);

}  // namespace stagecraft
