// Tells where the order of ranks makes a difference: not where devices are joined alike, so that
// any order is as good.
#pragma once

#include "sim/cluster/cluster.h"

namespace stagecraft {

// PlacedSets is the part of a pipeline that lies in one pool: sets of devices, one for each replica
// of each stage, one after another.
struct PlacedSets {
  int first_device = 0;  // the first of the pool, and the first of a node
  int devices = 0;       // in all sets
  int set_devices = 1;   // each set has a multiple of this many devices
  int stages = 0;
  int replicas = 0;      // of the stage with the most replicas
  bool are_all = false;  // nothing of the pipeline lies elsewhere
};

// Returns how many devices, beginning with the first one of a node, are interchangeable: all of the
// node if any two are joined alike and if memories that several devices share are shared alike;
// else 1.
int AlikeDevices(const Cluster& cluster, int first_device);

// Returns whether kStagesFirstRankOrder may give a plan that is not equivalent to that of
// kDefaultRankOrder. It cannot with one stage or one replica, if everything lies on interchangeable
// devices, or if the sets fill whole scale-up domains at one switch.
bool RankOrderMatters(const Cluster& cluster, const PlacedSets& sets);

}  // namespace stagecraft
