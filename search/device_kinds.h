// DeviceKinds: which groups of a cluster have the same kind of device.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Kinds are numbered in the order of the cluster's groups.
struct DeviceKinds {
  std::vector<int> first_groups;  // of each kind, an index into Cluster::groups()
  std::vector<int> of_groups;     // by group

  int count() const { return static_cast<int>(first_groups.size()); }
  // Of so many devices of each group those kinds that have some, ascending.
  std::vector<int> Used(const std::vector<int>& group_devices) const;
};
DeviceKinds KindsOf(const Cluster& cluster);

// Every choice of at least one kind of so many, ascending: fewer kinds first.
std::vector<std::vector<int>> ChoicesOfKinds(int count);

}  // namespace stagecraft
