// ObservedNode: a node as tools that run on it describe it, and the node type that follows from
// that.
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
  Link port;                              // the PCIe port of a GPU
  int nics = 0;
  Bandwidth nic;                                 // of each interface; zero: not stated
  NetworkKind network = NetworkKind::kUnstated;  // of the interfaces
  PcieTree tree;                                 // with all GPUs and interfaces; empty: not known

  friend bool operator==(const ObservedNode&, const ObservedNode&) = default;
};

// Returns the node's type, with the latencies of costmodel/usual_links.h and network_kind.h. The
// bandwidth of network interfaces is options.nic_gbit, else what `node` states, else that of the
// GPU's reference node; their kind is options.network, else what `node` states.
// Throws an InputError that begins with `place` for links that make no known wiring.
NodeTypeProto ToNodeType(const ObservedNode& node, const std::string& id,
                         const ImportOptions& options, const std::string& place,
                         std::vector<std::string>* notes);

// Returns the link between the root complexes of a host, whose PCIe is of this generation.
Link RootLink(int pcie_generation);

}  // namespace stagecraft
