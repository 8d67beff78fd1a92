// `kubectl get nodes -o json`.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostKubernetesBytes = 64 << 20;

// Nodes with GPUs, in the order of region, zone, network layers, NVLink clique and
// name. An instance type of the catalogue says how a node is wired, else the GPU's
// reference node does. Nodes that share the nearest network layer (AWS) or
// sub-block (GCE), where all have one, share a leaf switch; nodes without one are
// noted where others have it. Throws InputError
// that names file and node for lists without GPUs, names given twice, counts
// that differ between label and capacity, MIG, and GPUs nobody knows.
ImportedCluster ImportKubernetesNodes(const std::string& text, const std::string& name,
                                      const ImportOptions& options);

}  // namespace stagecraft
