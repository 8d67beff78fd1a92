// Converts clusters from and to their protos.
#pragma once

#include <string>

#include "proto/cluster.pb.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

// Checks everything and throws InputError, whose message begins with `file`: "cluster.yaml:
// node_groups[1].count: got 0, want ...". A cluster without a name is called `file`.
Cluster ClusterFromProto(const ClusterProto& proto, const std::string& file);

// ClusterFromProto(ToProto(cluster)) equals `cluster`.
ClusterProto ToProto(const Cluster& cluster);

}  // namespace stagecraft
