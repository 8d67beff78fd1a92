#include "search/rank_places.h"

#include "sim/cluster/node_type.h"
#include "sim/cluster/topology/interconnect_spec.h"

namespace stagecraft {
namespace {

// Returns whether `count` devices from `first` on each have a memory of their own, or all share
// one. Otherwise a device is unlike others, because different devices share its memory.
bool ShareMemoryAlike(const Cluster& cluster, int first, int count) {
  const int memory = cluster.shared_memory(first);
  for (int device = first; device < first + count; ++device) {
    if (cluster.shared_memory(device) != memory) return false;
  }
  return true;
}

// Returns whether every set fills whole scale-up domains that meet at one switch, so that all sets
// are equally far from each other.
bool FillDomains(const Cluster& cluster, const PlacedSets& sets) {
  if (cluster.has_explicit_links() || !IsSingleSwitch(cluster.interconnect())) return false;
  // Devices of some domains may share memory, within the domain or with others, and those of other
  // domains may not.
  if (!cluster.shared_memories().empty()) return false;
  const int first = cluster.place(sets.first_device).node;
  int devices = 0;  // of a scale-up domain
  for (int node = first;
       node < cluster.node_count() && cluster.domain(node) == cluster.domain(first); ++node) {
    devices += cluster.node(node).devices;
  }
  return sets.set_devices % devices == 0;
}

}  // namespace

int AlikeDevices(const Cluster& cluster, int first_device) {
  const NodeType& type = cluster.node(cluster.place(first_device).node);
  const bool are_alike = !cluster.has_explicit_links() && JoinsAlike(type) &&
                         ShareMemoryAlike(cluster, first_device, type.devices);
  return are_alike ? type.devices : 1;
}

bool RankOrderMatters(const Cluster& cluster, const PlacedSets& sets) {
  if (sets.stages < 2 || sets.replicas < 2) return false;
  if (sets.are_all && sets.devices <= AlikeDevices(cluster, sets.first_device)) return false;
  return !FillDomains(cluster, sets);
}

}  // namespace stagecraft
