// GroupFabrics: what groups of devices and single messages see of a cluster, as one Fabric.
#pragma once

#include <span>
#include <vector>

#include "costmodel/link.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

class GroupFabrics {
 public:
  // The cluster must outlive it.
  explicit GroupFabrics(const Cluster& cluster) : cluster_(cluster) {}

  // The fabric a communicator of these distinct devices sees, in any order.
  // Several node types: the slowest link wins.
  // `Fabric::nodes` and its `node` are the group's scale-up domains.
  //   intra  what a ring over the ranks of one node has per rank and direction,
  //          on the node where that is least; where no node has two ranks, what
  //          a device has.
  //   inter  bandwidth: all interfaces of a node x its ranks in the group / its
  //          devices, on the node where that is least. Explicit links: every
  //          device of a node sends to its counterpart on the group's next
  //          node, links are shared evenly, and the group's ranks are summed.
  //          Never more than the group's part of the uplinks and joins it
  //          crosses by such `traffic` (Interconnect::GroupShare).
  Fabric OfGroup(std::span<const int> devices, Traffic traffic) const;

  // The fabric of one message. Inside a node or domain `intra` is the route's narrowest
  // link; across domains inter.bandwidth is the interfaces that serve the device
  // (at least one), or an equal share of all of the node's where `concurrent`
  // messages leave it at the same time, whichever is less, at either end, and of
  // the uplinks on the way (Interconnect::MessageShare).
  // Preconditions: from != to, concurrent >= 1.
  Fabric OfPair(int from, int to, int concurrent) const;

 private:
  struct NodeRanks {
    int node = 0;
    std::vector<int> locals;  // ascending
  };
  struct DomainRanks {  // of one scale-up domain
    std::vector<NodeRanks> nodes;
    int count = 0;
  };

  std::vector<DomainRanks> ByDomain(std::span<const int> devices) const;
  Link IntraLink(const DomainRanks& ranks) const;
  Link InterLink(const std::vector<DomainRanks>& domains, Traffic traffic) const;
  Bandwidth UplinkShare(const std::vector<DomainRanks>& domains, Traffic traffic) const;
  bool HasNvls(const DomainRanks& ranks) const;
  // What `ranks` have towards another node over explicit links.
  Link ExplicitShare(const NodeRanks& ranks, int to_node) const;

  const Cluster& cluster_;
};

}  // namespace stagecraft
