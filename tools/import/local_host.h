// This host as a cluster: a device for every processor, as its processes measured it.
#pragma once

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "costmodel/units.h"
#include "proto/cluster.pb.h"

namespace stagecraft {

struct LocalHost {
  Device processor;    // one of them, alone
  int processors = 1;  // two or more share what memory gives
  Link message;        // between two
  Bandwidth together;  // of memory, all processors at once
};

// One node, which can be no part of several: what lies between hosts is not measured.
ClusterProto LocalHostCluster(const LocalHost& host);

}  // namespace stagecraft
