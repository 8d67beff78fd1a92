// SwitchedFabric: the switches and one-way links of one network between nodes, and the route
// between any two of its leaves, known by construction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/link.h"
#include "sim/cluster/topology/interconnect_spec.h"

namespace stagecraft {

// Switches are counted in the order leaves, spines, cores and, last, the gateway to other fabrics;
// links in the order of those above the leaves, above the spines, and the gateway's. The up link of
// a cable comes before its down link.
//
//   leaf -- every spine of its pod;  spine s of any pod -- cores s C ... s C + C - 1
//
// where C is the number of uplinks of the second tier. Nothing is stored for single links.
class SwitchedFabric {
 public:
  struct Cable {
    int from = 0;  // switches
    int to = 0;
    Link link;
  };

  // `rails` is the number of interfaces of the node that has the most. `gateway` is the link over
  // which every topmost switch reaches the gateway; without bandwidth there is no gateway.
  // Precondition: FindErrors() finds nothing wrong with `spec`.
  SwitchedFabric(FabricSpec spec, int nodes, int rails, const Link& gateway);

  const FabricSpec& spec() const { return spec_; }
  int64_t switch_count() const { return gateway_switch_ + (has_gateway_switch_ ? 1 : 0); }
  int64_t link_count() const { return first_gateway_link_ + (has_gateway_switch_ ? 2 * tops_ : 0); }
  // "ib/leaf3", "ib/rail1/leaf3", "ib/pod0/spine2", "ib/core7", "ib/gateway"; a single switch has
  // the name of the fabric.
  std::string SwitchName(int index) const;
  Cable link(int index) const;

  int64_t leaf_count() const { return leaves_; }
  int Leaf(int node, int rail) const;
  int PodOfLeaf(int leaf) const;
  int pod_count() const { return static_cast<int>(pods_); }
  // A single switch is its own gateway.
  int gateway() const { return static_cast<int>(has_gateway_switch_ ? gateway_switch_ : 0); }

  // Append the links from one leaf to another, from a leaf to the gateway, and from the gateway to
  // a leaf. `choice` picks among routes of equal length.
  void Cross(int from_leaf, int to_leaf, uint64_t choice, std::vector<int>* links) const;
  void Leave(int leaf, uint64_t choice, std::vector<int>* links) const;
  void Enter(int leaf, uint64_t choice, std::vector<int>* links) const;

  // What a link leads out of, or into: a leaf, a pod or, if both are -1, the fabric; and how many
  // links like it do the same.
  struct Above {
    int leaf = -1;
    int pod = -1;
    int64_t like = 1;
  };
  Above AboveWhat(int link) const;

  // The bandwidth out of a leaf or a pod in the narrower direction.
  Bandwidth LeafUplinks() const;
  Bandwidth PodUplinks() const;

 private:
  // A route up from a leaf: which spine of its pod, and which of that spine's cores.
  struct Way {
    int spine = 0;
    int core = 0;
  };
  Way Choose(uint64_t choice) const;
  int UpLink(int leaf, const Way& way) const;
  int CoreLink(int pod, const Way& way) const;
  int TopLink(const Way& way) const;
  bool has_cores() const { return spec_.tiers.size() == 2; }

  FabricSpec spec_;
  std::vector<int> first_node_;  // for uneven leaves: by leaf
  Link gateway_link_;
  bool has_gateway_switch_ = false;
  int rails_ = 1;  // leaves next to each other: 1 unless rail-optimised
  int64_t leaves_ = 1;
  int64_t pods_ = 1;
  int64_t spines_ = 0;  // of a pod
  int64_t cores_ = 0;   // of a spine
  int64_t tops_ = 0;
  int64_t first_core_ = 0;  // switch
  int64_t gateway_switch_ = 1;
  int64_t first_core_link_ = 0;
  int64_t first_gateway_link_ = 0;
};

}  // namespace stagecraft
