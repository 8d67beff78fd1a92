// The matrix that `nvidia-smi topo -m` prints.
#pragma once

#include <cstdint>
#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostSmiTopologyBytes = 1 << 20;

// One node. The matrix names no GPU: options.gpu is required. PIX and PXB are one
// PCIe switch, PHB and NODE one root complex, SYS another; where NVLinks hide the
// way over PCIe, the NUMA column tells root complexes apart. NV# between all is
// an NVSwitch where a GPU has not so many links for each other one. Throws
// InputError that opens with `name` and a line for rows that are missing, too
// short or given twice, unknown kinds of link, and a matrix that is not symmetric.
ImportedCluster ImportSmiTopology(const std::string& text, const std::string& name,
                                  const ImportOptions& options);

}  // namespace stagecraft
