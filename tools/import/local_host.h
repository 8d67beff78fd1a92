// This host as a cluster: a device for every processor, as its processes measured it.
#pragma once

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "proto/cluster.pb.h"

namespace stagecraft {

struct LocalHost {
  Device processor;  // one of them while all are at work, and all of the memory
  int processors = 1;
  Link message;  // between two
};

// One node, which can be no part of several: what lies between hosts is not measured. A
// processor has an even part of the memory.
ClusterProto LocalHostCluster(const LocalHost& host);

}  // namespace stagecraft
