// What has to be assumed because a cluster file leaves it out.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"

namespace stagecraft {

// One sentence for each device that a default completes; `file` opens it.
std::vector<std::string> ClusterNotes(const ClusterProto& proto, const std::string& file);

// The same for a cluster as ParseCluster() reads it; there are no notes if it is not a file. Throws
// the same errors as ParseCluster().
std::vector<std::string> ClusterNotes(const std::string& spec);

}  // namespace stagecraft
