// One-way network links as numbers, and what a group of ranks sees of them.
#pragma once

#include <string>

#include "costmodel/units.h"

namespace stagecraft {

// kNvlink is any direct link between accelerators: Infinity Fabric too.
enum class LinkKind { kNvlink, kPcie, kNetwork, kHost };
const char* Name(LinkKind kind);

// A one-way link between two endpoints of a cluster.
struct Link {
  LinkKind kind = LinkKind::kNetwork;
  Duration latency;     // first bit in to first bit out
  Bandwidth bandwidth;  // > 0
  friend bool operator==(const Link&, const Link&) = default;
};

// What one communicator sees of the cluster: enough to price a collective.
struct Fabric {
  int ranks = 1;
  // Scale-up domains, all but always the nodes: a GB200 NVL72 counts once.
  int nodes = 1;
  // Ranks on the node that has the fewest of them.
  int ranks_per_node = 1;
  // The narrowest link between ranks of one node, per rank and direction.
  Link intra;
  // What the whole group may use of one node's interfaces, per direction,
  // while the node's other devices work in groups of the same kind. Latency is
  // one crossing of the network. Ignored where nodes == 1.
  Link inter;
  // The switch inside the node multicasts and reduces (NVLink SHARP).
  bool nvls = false;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

}  // namespace stagecraft
