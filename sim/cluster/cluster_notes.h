// ClusterNotes(): what has to be assumed because a cluster file leaves it out.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"

namespace stagecraft {

// Returns one sentence, which begins with `file`, for each device that a default completes.
std::vector<std::string> ClusterNotes(const ClusterProto& proto, const std::string& file);

// Does the same for a cluster as ParseCluster() reads it: a file, or names like "h100-sxm:2x8".
// Throws the same errors as ParseCluster() for a file.
std::vector<std::string> ClusterNotes(const std::string& spec);

}  // namespace stagecraft
