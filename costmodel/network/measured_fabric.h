// The links of a measured group, from what its table says about them.
#pragma once

#include <optional>
#include <string>

#include "costmodel/link.h"
#include "costmodel/network/measured_networks.h"

namespace stagecraft {

// One row of the shared table, as far as it describes hardware.
struct MeasuredGroup {
  std::string gpu;  // id in the device catalogue
  MeasuredPlace place;
  int nodes = 1;
  int ranks_per_node = 1;
  int stride = 1;
};

struct MeasuredFabric {
  Fabric fabric;
  bool is_network_stated = true;
  int sharing = 1;  // groups that use the interfaces of each node at the same time
};

// Returns the links that the column `fabric` states (fabric_words.h). If it has names instead, they
// are links with the nominal bandwidths of these generations, as in datasheets, and between nodes
// the network that MeasuredNetworks has. Groups of one shape fill their nodes, so the devices of a
// node over those of a group are the number of groups that share its interfaces. In hybrid cube
// meshes there are as many links as rings over the group's ranks use. Devices that only PCIe joins
// and that cannot reach each other directly communicate through host memory. No value if the links
// of the GPU type are not known. Throws an InputError that begins with `row` for a network that is
// not known.
std::optional<MeasuredFabric> DescribeMeasured(const MeasuredGroup& group, const std::string& row);

}  // namespace stagecraft
