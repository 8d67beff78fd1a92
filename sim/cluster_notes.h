// What a cluster file leaves to be assumed.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"

namespace stagecraft {

// A sentence for each device that a default completes; `file` opens it.
std::vector<std::string> ClusterNotes(const ClusterProto& proto, const std::string& file);

// The same of a cluster as ParseCluster() takes it: none where it is no file. Throws as that does.
std::vector<std::string> ClusterNotes(const std::string& spec);

}  // namespace stagecraft
