// PcieTree: switches with devices and network interfaces below them, root complexes above them, and
// the link between root complexes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/link.h"

namespace stagecraft {

struct PcieTree {
  std::vector<int> switch_root;    // by switch: its root complex; if empty, there is no tree
  std::vector<int> device_switch;  // by device of the node
  std::vector<int> nic_switch;     // by network interface
  int roots = 0;
  std::vector<Link> uplinks;  // by switch: to its root complex, each way
  Link root_link;             // between any two root complexes, each way; needs roots > 1

  bool empty() const { return switch_root.empty(); }
  int switches() const { return static_cast<int>(switch_root.size()); }
  friend bool operator==(const PcieTree&, const PcieTree&) = default;
};

// Returns the places of `count` things that are spread evenly and in order: [0, 0, 1, 1].
std::vector<int> SpreadEvenly(int count, int places);

// Returns every problem as "key: got ..., want ..."; nothing for a sound or empty tree.
std::vector<std::string> FindErrors(const PcieTree& tree, int devices, int nics);

// Returns the interface that serves each device, given the switches `nic_switch` of the interfaces
// in question: the nearest (same switch, same root complex, other); among equally near ones the one
// that serves the fewest devices so far, then the first.
std::vector<int> NearestInterfaces(const PcieTree& tree, std::span<const int> nic_switch);

// Returns the bandwidth of each device of a group that exchanges in a ring while all devices of the
// node work in such groups: its part of the uplinks and root links that the ring crosses. Infinite
// if all are below one switch. There must be at least two devices, in ascending order.
Bandwidth RingShare(const PcieTree& tree, std::span<const int> devices);

// Returns the sum of the devices' shares of the uplinks and root links on their routes to the
// interfaces that serve them, each at most `port`.
Bandwidth LeavingShare(const PcieTree& tree, std::span<const int> device_nic,
                       std::span<const int> nic_switch, Bandwidth port);

}  // namespace stagecraft
