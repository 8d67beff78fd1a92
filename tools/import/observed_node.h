// ObservedNode: a node as its own tools describe it, and the node type that follows.
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
  std::vector<int> switch_links;          // by GPU: number of NVLinks to NVSwitches
  std::vector<std::vector<int>> nvlinks;  // GPU x GPU: number of direct NVLinks
  Link port;                              // PCIe port of a GPU
  int nics = 0;
  Bandwidth nic;  // of each interface; zero: not stated
  PcieTree tree;  // with all GPUs and interfaces; empty: not known

  friend bool operator==(const ObservedNode&, const ObservedNode&) = default;
};

// Latencies are those of costmodel/usual_links.h. `options.nic_gbit` takes precedence over what
// `node` states; without either, interfaces are those of the GPU's reference node. Throws an
// InputError, which `place` opens, for links that make no known wiring.
NodeTypeProto ToNodeType(const ObservedNode& node, const std::string& id,
                         const ImportOptions& options, const std::string& place,
                         std::vector<std::string>* notes);

// The link between root complexes on hosts of a PCIe generation.
Link RootLink(int pcie_generation);

}  // namespace stagecraft
