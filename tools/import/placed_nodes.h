// Nodes below leaf switches, as schedulers list them, and the cluster that they make.
#pragma once

#include <string>
#include <vector>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

struct PlacedNode {
  NodeGroupProto type;  // a group of one node; the count is filled in
  std::string leaf;
  std::string pod;  // the switch above the leaf; empty: none
};

// `nodes` are in rank order, those of a leaf together. Several leaves make a fat tree whose uplinks
// follow from options.oversubscription; pods become a third tier if leaves and pods are all of one
// size, else they are left out, which is noted.
void AddPlacedNodes(const std::vector<PlacedNode>& nodes, const ImportOptions& options,
                    ImportedCluster* result);

// The node for which `gpu` and `count` stand; options.node or options.gpu take precedence. `count`
// 0: as in the catalogue. Throws an InputError, which `place` opens, if nothing names a GPU.
NodeGroupProto NodeOf(const std::string& gpu, int count, const ImportOptions& options,
                      const std::string& place);

}  // namespace stagecraft
