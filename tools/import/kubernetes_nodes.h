// Imports the output of `kubectl get nodes -o json`.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostKubernetesBytes = 64 << 20;

// Nodes with GPUs, in the order of region, zone, network layers, NVLink clique and name. A node is
// wired as its instance type says, if the catalogue has it, else as the reference node of its GPU
// type. Nodes that share the nearest network layer (AWS) or sub-block (GCE), if all have one, share
// a leaf switch; a note names nodes without one if others have it. Throws an InputError that names
// file and node for lists without GPUs, names given twice, counts that differ between label and
// capacity, MIG, and unknown GPUs.
ImportedCluster ImportKubernetesNodes(const std::string& text, const std::string& name,
                                      const ImportOptions& options);

}  // namespace stagecraft
