// DeviceKinds: which node groups of a cluster have the same GPU type.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// DeviceKinds numbers the kinds of devices in the order of the cluster's node groups. Devices of
// the same GPU type are of one kind.
struct DeviceKinds {
  std::vector<int> first_groups;  // for each kind, an index into Cluster::groups()
  std::vector<int> of_groups;     // by group

  int count() const { return static_cast<int>(first_groups.size()); }
  // Returns the kinds of which at least one device is used, ascending. `group_devices` says how
  // many devices of each node group are used.
  std::vector<int> Used(const std::vector<int>& group_devices) const;
};
DeviceKinds KindsOf(const Cluster& cluster);

// Returns every combination of at least one of `count` kinds: those of fewer kinds first, and those
// of equally many in lexicographic order.
std::vector<std::vector<int>> ChoicesOfKinds(int count);

}  // namespace stagecraft
