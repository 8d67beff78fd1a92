// What a cluster file leaves to be assumed.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"

namespace stagecraft {

// A sentence for each device that a default completes; `file` opens it.
std::vector<std::string> ClusterNotes(const ClusterProto& proto, const std::string& file);

// The same for a cluster as ParseCluster() takes it; one that is no file has none. Throws as
// ParseCluster() does.
std::vector<std::string> ClusterNotes(const std::string& spec);

}  // namespace stagecraft
