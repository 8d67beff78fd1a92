// PlacedNode: a node and the leaf switch to which a scheduler says that it is connected; and the
// cluster that such nodes make.
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

// Adds the nodes, which are in rank order, those of a leaf together. Several leaves make a fat tree
// whose uplinks follow from options.oversubscription. Several pods become a third tier if all
// leaves are of one size, and all pods; else they are left out, and a note says so.
void AddPlacedNodes(const std::vector<PlacedNode>& nodes, const ImportOptions& options,
                    ImportedCluster* result);

// Returns the node type with `count` GPUs of type `gpu`; options.node and options.gpu take
// precedence over `gpu`. `count` 0: as many as in the catalogue. Throws an InputError that begins
// with `place` if nothing names a GPU.
NodeGroupProto NodeOf(const std::string& gpu, int count, const ImportOptions& options,
                      const std::string& place);

}  // namespace stagecraft
