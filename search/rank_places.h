// Where the order of ranks makes a difference, and where any puts them on devices that see
// each other alike.
#pragma once

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Of a pipeline what lies in one pool: sets of devices, a set for each replica of each stage,
// one behind another.
struct PlacedSets {
  int first_device = 0;  // of the pool, and of a node
  int devices = 0;       // of all sets
  int set_devices = 1;   // that each set has a multiple of
  int stages = 0;
  int replicas = 0;      // of the stage with most
  bool are_all = false;  // nothing of the pipeline lies elsewhere
};

// So many devices from the first one of a node on can change places: all of a node that joins
// any two alike, where all have the same devices beside them on their memory. Else 1.
int AlikeDevices(const Cluster& cluster, int first_device);

// Whether kStagesFirstRankOrder makes another plan of it than kDefaultRankOrder. It does not
// where all lies on alike devices, or where sets fill whole scale-up domains at one switch.
bool RankOrderMatters(const Cluster& cluster, const PlacedSets& sets);

}  // namespace stagecraft
