// ObservedNode: a node as its own tools describe it, and the node type it makes.
#pragma once

#include <string>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "proto/cluster.pb.h"
#include "sim/cluster/topology/pcie_tree.h"
#include "tools/import/imported_cluster.h"

namespace stagecraft {

struct ObservedNode {
  const DeviceEntry* gpu = nullptr;
  int gpus = 0;
  std::vector<int> switch_links;          // by GPU: NVLinks to NVSwitches
  std::vector<std::vector<int>> nvlinks;  // GPU x GPU: direct NVLinks
  Link port;                              // PCIe port of a GPU
  int nics = 0;
  Bandwidth nic;  // of each interface; zero: not stated
  PcieTree tree;  // with all GPUs and interfaces; empty: not known

  friend bool operator==(const ObservedNode&, const ObservedNode&) = default;
};

// Latencies are those of costmodel/usual_links.h. `options.nic_gbit` goes before what
// `node` states; without either, interfaces are as on the GPU's reference node. Throws
// InputError, which `place` opens, for links that make no wiring we know.
NodeTypeProto ToNodeType(const ObservedNode& node, const std::string& id,
                         const ImportOptions& options, const std::string& place,
                         std::vector<std::string>* notes);

// What root complexes have between them on hosts of a PCIe generation.
Link RootLink(int pcie_generation);

}  // namespace stagecraft
