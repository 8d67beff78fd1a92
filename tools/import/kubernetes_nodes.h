// Imports the output of `kubectl get nodes -o json`.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostKubernetesBytes = 64 << 20;

// Returns the nodes with GPUs, sorted by region, zone, network layers, NVLink clique and name. A
// node is wired as its instance type, if the catalogue has that, else as the reference node of its
// GPU type. If all nodes have a label for the nearest network layer (AWS) or sub-block (GCE), those
// with the same one share a leaf switch; if only some have it, leaf switches are left out, and a
// note says so. Throws an InputError that names the file and the node for lists without GPUs, names
// given twice, counts that differ between label and capacity, MIG, and unknown GPUs.
ImportedCluster ImportKubernetesNodes(const std::string& text, const std::string& name,
                                      const ImportOptions& options);

}  // namespace stagecraft
