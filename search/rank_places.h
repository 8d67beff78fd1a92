// Where the order of ranks makes a difference, and where any order puts them on devices that see
// each other alike.
#pragma once

#include "sim/cluster/cluster.h"

namespace stagecraft {

// The part of a pipeline that lies in one pool: sets of devices, one for each replica of each
// stage, one behind another.
struct PlacedSets {
  int first_device = 0;  // of the pool, and of a node
  int devices = 0;       // of all sets
  int set_devices = 1;   // each set has a multiple of this many devices
  int stages = 0;
  int replicas = 0;      // of the stage with most replicas
  bool are_all = false;  // nothing of the pipeline lies elsewhere
};

// How many devices from the first one of a node on can change places: all of a node that joins any
// two alike, if all have the same devices beside them on their memory. Else 1.
int AlikeDevices(const Cluster& cluster, int first_device);

// Whether kStagesFirstRankOrder makes another plan than kDefaultRankOrder. It does not if
// everything lies on devices that are alike, or if sets fill whole scale-up domains at one switch.
bool RankOrderMatters(const Cluster& cluster, const PlacedSets& sets);

}  // namespace stagecraft
