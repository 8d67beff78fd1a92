// Describes this host as a cluster with a device for every CPU core, as its processes measured
// them.
#pragma once

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "proto/cluster.pb.h"

namespace stagecraft {

struct LocalHost {
  Device processor;  // one CPU core while all are busy, with all of the host's memory
  int processors = 1;
  Link message;  // between two of them
};

// Returns a cluster of one node, since links between hosts are not measured. Each CPU core has an
// equal part of the memory.
ClusterProto LocalHostCluster(const LocalHost& host);

}  // namespace stagecraft
