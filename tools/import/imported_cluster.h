// What importers of cluster descriptions give back and may be told.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"

namespace stagecraft {

// What the source leaves out; empty and zero: the source, or the catalogue, says.
struct ImportOptions {
  std::string gpu;              // every GPU is this one, whatever the source calls it
  std::string node;             // every node is this one of the catalogue
  double nic_gbit = 0;          // of each network interface
  double oversubscription = 0;  // of leaf switches whose uplinks nobody states; 0: none
  std::string topology;         // of several in one file; empty: its default
};

struct ImportedCluster {
  ClusterProto cluster;
  std::vector<std::string> notes;  // sentences: what was assumed or left out
};

}  // namespace stagecraft
