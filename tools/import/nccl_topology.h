// Imports NCCL's topology XML (NCCL_TOPO_DUMP_FILE): PCIe trees, NVLinks, interfaces.
#pragma once

#include <string>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

inline constexpr int64_t kMostNcclTopologyBytes = 4 << 20;

// Makes a node type for every kind of host in the file. GPUs are named by their PCI ids if these
// are listed, else by options.gpu. Files without <gpu> elements give PCIe alone. Interfaces slower
// than the fastest are left out, and so are switches with nothing else below them; the others keep
// their own uplinks. Throws an InputError that opens with `name` and a line for broken or deeply
// nested XML, unknown speeds and link classes, links to nowhere or to themselves, one-way links,
// and bus ids or devices given twice.
ImportedCluster ImportNcclTopology(const std::string& text, const std::string& name,
                                   const ImportOptions& options);

}  // namespace stagecraft
