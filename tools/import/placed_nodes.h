// Nodes below leaf switches, as schedulers list them, and the cluster they make.
#pragma once

#include <string>
#include <vector>

#include "tools/import/imported_cluster.h"

namespace stagecraft {

struct PlacedNode {
  NodeGroupProto type;  // a group of one; the count is filled in
  std::string leaf;
  std::string pod;  // what is above the leaf; empty: nothing else
};

// `nodes` in rank order, those of a leaf together. Several leaves make a fat tree
// whose uplinks rest on options.oversubscription; pods become a third tier where
// leaves and pods are all of one size, else they are left out, and noted.
void AddPlacedNodes(const std::vector<PlacedNode>& nodes, const ImportOptions& options,
                    ImportedCluster* result);

// The node that `gpu` and `count` stand for: options.node or options.gpu come
// before them. `count` 0: as the catalogue says. Throws InputError, which `place`
// opens, where nothing names a GPU.
NodeGroupProto NodeOf(const std::string& gpu, int count, const ImportOptions& options,
                      const std::string& place);

}  // namespace stagecraft
