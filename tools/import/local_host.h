// This host as a cluster: a device for every processor, as its processes measured it.
#pragma once

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "costmodel/units.h"
#include "proto/cluster.pb.h"

namespace stagecraft {

struct LocalHost {
  Device processor;  // one of them
  int processors = 1;
  Link message;        // between two
  Bandwidth together;  // of memory, all processors at once
};

// One node, which can be no part of several: what lies between hosts is not measured. A
// processor has its part of what memory gives all at once: samples are taken so too.
ClusterProto LocalHostCluster(const LocalHost& host);

}  // namespace stagecraft
