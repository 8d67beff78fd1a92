// DeviceKinds: which node groups of a cluster have the same GPU type.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Kinds of devices are numbered in the order of the cluster's groups.
struct DeviceKinds {
  std::vector<int> first_groups;  // for each kind, an index into Cluster::groups()
  std::vector<int> of_groups;     // by group

  int count() const { return static_cast<int>(first_groups.size()); }
  // The kinds of which at least one device is used, ascending, given how many devices of each group
  // are.
  std::vector<int> Used(const std::vector<int>& group_devices) const;
};
DeviceKinds KindsOf(const Cluster& cluster);

// Every combination of at least one of `count` kinds, ascending: fewer kinds first.
std::vector<std::vector<int>> ChoicesOfKinds(int count);

}  // namespace stagecraft
