// Imports NCCL's topology XML (NCCL_TOPO_DUMP_FILE): PCIe trees, NVLinks, interfaces.
#pragma once

#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostNcclTopologyBytes = 4 << 20;

// Makes a node type for each run of equal hosts in the file. options.gpu says which GPU type they
// have; if it is empty, their PCI ids do. A file without <gpu> elements gives PCIe alone. Network
// interfaces slower than the fastest are left out, and so are switches with nothing else below
// them; other switches keep their own uplinks. Throws an InputError that begins with `name` and a
// line for broken or deeply nested XML, unknown speeds and link classes, links to nowhere or to
// the same GPU, one-way links, and bus ids or devices given twice.
ImportedCluster ImportNcclTopology(const std::string& text, const std::string& name,
                                   const ImportOptions& options);

}  // namespace stagecraft
