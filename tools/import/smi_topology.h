// Imports the matrix that `nvidia-smi topo -m` prints.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostSmiTopologyBytes = 1 << 20;

// Gives one node. The matrix names no GPU, so options.gpu is required. PIX and PXB mean one PCIe
// switch, PHB and NODE one root complex, SYS another one; where NVLinks hide the path over PCIe,
// the NUMA column distinguishes root complexes. NV# between all GPUs is an NVSwitch if a GPU does
// not have that many links for each other one. Throws an InputError that opens with `name` and a
// line for rows that are missing, too short or given twice, unknown kinds of link, and a matrix
// that is not symmetric.
ImportedCluster ImportSmiTopology(const std::string& text, const std::string& name,
                                  const ImportOptions& options);

}  // namespace stagecraft
