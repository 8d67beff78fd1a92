// What the links of a measured group were, from what its table says of them.
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
  int sharing = 1;  // groups that use each node's interfaces at the same time
};

// What the column `fabric` states (fabric_words.h); of names, nominal bandwidths by
// generation of link, as datasheets have them, and between nodes what MeasuredNetworks
// says. Groups of one shape fill their nodes, so a node's devices over a group's are the
// groups that share its interfaces. Hybrid cube meshes: as many links as rings over
// the group's ranks use. Devices whose only way is PCIe and whose boards cannot
// reach each other go through host memory. Nothing
// where the links of the GPU are not known here. Throws InputError, `row` first, for a
// network that is not known.
std::optional<MeasuredFabric> DescribeMeasured(const MeasuredGroup& group, const std::string& row);

}  // namespace stagecraft
