// ImportedCluster: what importers of cluster descriptions return, and the options that they take.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"

namespace stagecraft {

// What the source may leave out. If an option is empty or zero, the source or the catalogue
// decides.
struct ImportOptions {
  std::string gpu;              // every GPU is of this type, whatever the source says
  std::string node;             // every node is of this type of the catalogue
  double nic_gbit = 0;          // of each network interface
  std::string network;          // the kind of network that the interfaces speak: "infiniband"
  double oversubscription = 0;  // of leaf switches whose uplinks are not stated; 0: none
  std::string topology;         // one of several in a file; empty: its default
};

struct ImportedCluster {
  ClusterProto cluster;
  std::vector<std::string> notes;  // sentences about what was assumed or left out
};

}  // namespace stagecraft
