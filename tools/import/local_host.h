// This host as a cluster: a device for every CPU, as its processes measured it.
#pragma once

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "proto/cluster.pb.h"

namespace stagecraft {

struct LocalHost {
  Device processor;  // one CPU while all are busy, and all of the memory
  int processors = 1;
  Link message;  // between two of them
};

// One node, which cannot be one of several, since what lies between hosts is not measured. Each CPU
// has an equal part of the memory.
ClusterProto LocalHostCluster(const LocalHost& host);

}  // namespace stagecraft
