// Whether only their types tell the nodes of a cluster apart.
#pragma once

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Whether work that moves to the same devices of other nodes of the same types takes as long there
// and sees the same links: one switch that never blocks joins all nodes, no link is given
// explicitly, no device or link is slow, and no devices share a memory.
bool NodesAreAlike(const Cluster& cluster);

}  // namespace stagecraft
