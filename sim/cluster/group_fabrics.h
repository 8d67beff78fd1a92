// GroupFabrics: describes a cluster as one Fabric, as a group of devices or a single message sees
// it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/link.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

class GroupFabrics {
 public:
  // The cluster must outlive it.
  explicit GroupFabrics(const Cluster& cluster) : cluster_(cluster) {}

  // Returns the fabric that a communicator of these distinct devices, in any order, sees. If node
  // types differ, the slowest link counts. A node of the Fabric (`nodes`, `ranks_per_node`) is a
  // scale-up domain.
  //   intra  what a ring over the ranks of one node has per rank and direction,
  //          on the node where that is least; if no node has two ranks, what a
  //          device has.
  //   inter  bandwidth: all interfaces of a node x its ranks in the group / its
  //          devices, on the node where that is least. With explicit links, every
  //          device of a node sends to its counterpart on the group's next node,
  //          links are shared evenly, and the shares of the group's ranks are
  //          added up. Never more than the group's part of the uplinks and joins
  //          that it crosses with such `traffic` (Interconnect::GroupShare).
  //   *_rate  what slow links leave of these bandwidths: 1, or the least of
  //          rate x max(1, bandwidth of the link / what it carries at full speed)
  //          over the slow links that the group crosses. It crosses those between
  //          neighbours in NCCL's rings, or between all pairs if `traffic` is all-to-all,
  //          and every device that could send over such a link is taken to do so.
  Fabric OfGroup(std::span<const int> devices, Traffic traffic) const;

  // Returns the fabric that one message sees. Inside a node or domain `intra` is the narrowest link
  // of the route. Across domains inter.bandwidth is the least of: at either end, the interfaces
  // that serve the device (at least one), and an equal share of all of the node's if `concurrent`
  // messages leave it at the same time; and the message's share of the uplinks on the way
  // (Interconnect::MessageShare). Slow links count as in a group, where `concurrent` of a node's
  // devices send. Preconditions: from != to, concurrent >= 1.
  Fabric OfPair(int from, int to, int concurrent) const;

 private:
  struct NodeRanks {
    int node = 0;
    std::vector<int> locals;  // ascending
  };
  struct DomainRanks {  // the ranks in one scale-up domain
    std::vector<NodeRanks> nodes;
    int count = 0;
  };

  struct Domains {
    std::vector<DomainRanks> kinds;  // all of them, if it matters which nodes they are
    int count = 0;                   // of all
  };

  // Returns whether it does not matter which nodes a group has, but only which of their devices:
  // nothing lies between nodes that some share and others do not.
  bool NodesAreAlike() const;
  // Whether two runs of ascending devices, each in one domain, are the same devices of nodes of the
  // same types.
  bool AreAlike(std::span<const int> a, std::span<const int> b) const;
  DomainRanks Describe(std::span<const int> of_domain) const;
  Domains ByDomain(std::span<const int> devices) const;
  // Returns OfPair() as if no link were slow.
  Fabric OfRoute(const Route& route, int from, int to, int concurrent) const;
  Link IntraLink(const DomainRanks& ranks) const;
  Link InterLink(const std::vector<DomainRanks>& domains, Traffic traffic) const;
  // Returns the kind of the first network link on a route.
  NetworkKind NetworkOn(const Route& route) const;
  // Returns what the switches between neighbouring domains add to the latency of interfaces.
  Duration SwitchLatency(const std::vector<DomainRanks>& domains) const;
  Bandwidth UplinkShare(const std::vector<DomainRanks>& domains, Traffic traffic) const;
  bool HasNvls(const DomainRanks& ranks) const;
  // Returns what `ranks` have together towards another node over explicit links.
  Link ExplicitShare(const NodeRanks& ranks, int to_node) const;

  // Returns the share of its bandwidth that slow ones among the links leave of a flow, if the share
  // `active` of the devices that could send over each of them do. Throws LinkDownError for a link
  // at rate 0.
  double RateLeft(std::span<const int> links, Bandwidth flow, double active) const;
  double IntraRate(const DomainRanks& ranks, const Link& intra) const;
  double InterRate(const std::vector<DomainRanks>& domains, Traffic traffic,
                   const Link& inter) const;
  std::vector<int> DevicesOf(const DomainRanks& ranks) const;
  void TakeSlowLinks(const std::vector<DomainRanks>& domains, Traffic traffic,
                     Fabric* fabric) const;

  // With more ranks than this on a node, neighbours stand for all pairs.
  static constexpr size_t kMaxAllPairs = 16;
  // Domains of more kinds than this are described one by one.
  static constexpr size_t kMostKinds = 16;

  const Cluster& cluster_;
};

}  // namespace stagecraft
