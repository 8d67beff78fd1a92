// Imports the matrix that `nvidia-smi topo -m` prints.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostSmiTopologyBytes = 1 << 20;

// Returns one node. The matrix does not name the GPU type, so options.gpu is required. PIX and PXB
// mean that two devices share a PCIe switch, PHB and NODE that they share a root complex, SYS that
// they do not. If NVLinks hide the path over PCIe, the NUMA column says whether two GPUs share a
// root complex. NV# between all GPUs means an NVSwitch if the GPU type has too few links for that
// many to each other GPU, and is connected by NVSwitches in its reference node. Throws an
// InputError that begins with `name` for rows that are missing or too short, columns given twice,
// unknown kinds of link, and a matrix that is not symmetric.
ImportedCluster ImportSmiTopology(const std::string& text, const std::string& name,
                                  const ImportOptions& options);

}  // namespace stagecraft
