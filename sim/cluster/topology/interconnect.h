// Interconnect: the fabrics of a cluster with the nodes that are plugged into them, routes from
// interface to interface, and the shares that groups have of the uplinks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/link.h"
#include "sim/cluster/topology/interconnect_spec.h"
#include "sim/cluster/topology/switched_fabric.h"

namespace stagecraft {

// How the members of a group exchange data: with their neighbours, as rings and trees over the
// nodes in rank order do, or all with all.
enum class Traffic { kRing, kAllToAll };

// An interface of a node; nodes are counted over the cluster.
struct Port {
  int node = 0;
  int rail = 0;
};

// Switches and links are counted fabric by fabric; the links of joins follow. Immutable.
class Interconnect {
 public:
  // A run of consecutive nodes of the cluster that are equal.
  struct Nodes {
    int fabric = 0;
    int count = 0;
    std::vector<int> rail_devices;  // by rail: how many devices of a node it serves
  };
  // How many ranks of a group one interface serves.
  struct PortRanks {
    Port port;
    int ranks = 0;
  };

  // Precondition: FindErrors(spec) is empty and every `fabric` is one of the spec's.
  Interconnect(InterconnectSpec spec, std::vector<Nodes> nodes);

  const InterconnectSpec& spec() const { return spec_; }
  int64_t switch_count() const { return first_switch_.back(); }
  int64_t link_count() const { return first_link_.back() + 2 * std::ssize(spec_.joins); }
  std::string SwitchName(int index) const;
  SwitchedFabric::Cable link(int index) const;
  // The switch into which an interface is plugged.
  int SwitchOf(const Port& port) const;

  // Returns a sentence that names two fabrics with nodes that no joins connect: "no joins lead from
  // a to b, want a way between any two nodes"; empty if there are none.
  std::string FindUnreachable() const;

  // Returns the links from the switch of one port to that of the other. A hash of the seed and
  // `flow` chooses among equally long routes. Takes O(links).
  std::vector<int> Path(const Port& from, const Port& to, uint64_t flow) const;

  // Returns the bandwidth at which a group with `per_domain` ranks in each scale-up domain may send
  // out of each domain at the same time, as far as uplinks and joins decide it; infinite if the
  // group crosses none. The devices below a switch share its uplinks evenly, since all are assumed
  // to work in groups of the same kind. Ranks stay on their rail (NVLink changes it between the
  // GPUs of a node). Hash collisions are left out.
  Bandwidth GroupShare(std::span<const PortRanks> group, int per_domain, Traffic traffic) const;

  // Returns the same for one of `concurrent` messages that leave a node at once, if every node
  // below the same switches sends as many.
  Bandwidth MessageShare(const Port& from, const Port& to, int concurrent) const;

  // Returns how many devices send over a link if all below it send and use its like evenly; those
  // of a join are all devices of the fabric from which it leads.
  double Senders(int link) const;

 private:
  struct Place {
    int fabric = 0;
    int index = 0;  // of the node in the fabric
    const Nodes* nodes = nullptr;
  };
  // What leads out of one leaf, pod or fabric, and what is below it.
  struct Cut {
    Bandwidth width;      // of everything that leads out
    int64_t devices = 0;  // below it, whether in the group or not
    int64_t ranks = 0;
    int rail = -1;  // the only rail below it; -1: all rails
  };

  Place PlaceOf(int node) const;
  int LeafOf(const Place& place, int rail) const;
  void CountDevices();
  void FindNextJoins();
  std::vector<Cut> FindCuts(std::span<const PortRanks> group) const;
  void AddJoins(std::span<const PortRanks> group, std::vector<Cut>* cuts) const;
  // Returns the bandwidth of the narrowest of the joins from one fabric to another, in either
  // direction.
  Bandwidth JoinWidth(int from, int to) const;

  InterconnectSpec spec_;
  std::vector<Nodes> nodes_;
  std::vector<int> first_node_;    // by entry of nodes_
  std::vector<int> first_index_;   // by entry: index of its first node in its fabric
  std::vector<int> fabric_nodes_;  // by fabric
  std::vector<SwitchedFabric> fabrics_;
  std::vector<int64_t> first_switch_, first_link_;  // by fabric, with the end of the last
  std::vector<std::vector<int64_t>> leaf_devices_, pod_devices_;
  std::vector<int64_t> fabric_devices_;
  std::vector<std::vector<int>> next_join_;  // from x to -> join, or -1
};

}  // namespace stagecraft
