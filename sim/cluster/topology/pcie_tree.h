// PcieTree: switches with devices and network interfaces below them, root
// complexes above, and the link between those.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/link.h"

namespace stagecraft {

struct PcieTree {
  std::vector<int> switch_root;    // by switch: its root complex; none: there is no tree
  std::vector<int> device_switch;  // by device of the node
  std::vector<int> nic_switch;     // by network interface
  int roots = 0;
  std::vector<Link> uplinks;  // by switch: to its root complex, each way
  Link root_link;             // between any two root complexes, each way; needs roots > 1

  bool empty() const { return switch_root.empty(); }
  int switches() const { return static_cast<int>(switch_root.size()); }
  friend bool operator==(const PcieTree&, const PcieTree&) = default;
};

// `count` things spread evenly and in order over `places`: [0, 0, 1, 1].
std::vector<int> SpreadEvenly(int count, int places);

// Every problem as "key: got ..., want ..."; empty for a sound or empty tree.
std::vector<std::string> FindErrors(const PcieTree& tree, int devices, int nics);

// The interface that serves each device, where `nic_switch` are the switches of the
// interfaces in question: the nearest (same switch, same root complex, other); of
// equally near ones that with fewest devices yet, then the first.
std::vector<int> NearestInterfaces(const PcieTree& tree, std::span<const int> nic_switch);

// What each of a group's devices has when they exchange in a ring, and all the node's
// devices work in such groups: their part of the uplinks and root links they
// cross. Infinite where all are below one switch. At least two, ascending.
Bandwidth RingShare(const PcieTree& tree, std::span<const int> devices);

// The devices' shares of the uplinks and root links on their ways to the
// interfaces that serve them, each `port` at most, added up.
Bandwidth LeavingShare(const PcieTree& tree, std::span<const int> device_nic,
                       std::span<const int> nic_switch, Bandwidth port);

}  // namespace stagecraft
