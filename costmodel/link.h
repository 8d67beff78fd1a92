// One-way network links as numbers, and the links that a group of ranks uses.
#pragma once

#include <string>

#include "costmodel/network_kind.h"
#include "costmodel/units.h"

namespace stagecraft {

// kNvlink is any direct link between GPUs, Infinity Fabric included.
enum class LinkKind { kNvlink, kPcie, kNetwork, kHost };
const char* Name(LinkKind kind);

// A one-way link between two endpoints of a cluster.
struct Link {
  LinkKind kind = LinkKind::kNetwork;
  Duration latency;                              // first bit in to first bit out
  Bandwidth bandwidth;                           // > 0
  NetworkKind network = NetworkKind::kUnstated;  // if `kind` is kNetwork
  friend bool operator==(const Link&, const Link&) = default;
};

// Returns the kind of a network link, or the one that its latency suggests if it is not stated.
inline NetworkKind StatedOrLikely(const Link& link) {
  return link.network == NetworkKind::kUnstated ? LikelyKind(link.latency) : link.network;
}

// Fabric: the part of a cluster that one communicator uses, which is enough to price a collective.
struct Fabric {
  int ranks = 1;
  // Scale-up domains. They are nearly always the nodes; a GB200 NVL72 counts as one.
  int nodes = 1;
  // Number of ranks in the domain that has the fewest of them.
  int ranks_per_node = 1;
  // The link of least bandwidth between ranks of one node, per rank and direction.
  Link intra;
  // The part of one node's interfaces that the whole group may use, per direction, while the other
  // devices of the node work in groups of the same kind. Its latency is one crossing of the
  // network. Ignored if nodes == 1.
  Link inter;
  // Whether the switch inside the node multicasts and reduces (NVLink SHARP).
  bool nvls = false;
  // The share of the bandwidths of `intra` and `inter` that slow links leave, in (0, 1]. Methods
  // are chosen, and estimated, as if both were 1; SlowLinkTime() is what comes on top.
  double intra_rate = 1;
  double inter_rate = 1;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

}  // namespace stagecraft
