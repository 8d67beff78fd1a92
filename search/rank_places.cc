#include "search/rank_places.h"

#include "sim/node_type.h"
#include "sim/topology/interconnect_spec.h"

namespace stagecraft {
namespace {

// Of so many neighbours any set is as far from any other.
bool FillDomains(const Cluster& cluster, const PlacedSets& sets) {
  if (cluster.has_explicit_links() || !IsSingleSwitch(cluster.interconnect())) return false;
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
  return !cluster.has_explicit_links() && JoinsAlike(type) ? type.devices : 1;
}

bool RankOrderMatters(const Cluster& cluster, const PlacedSets& sets) {
  if (sets.stages < 2 || sets.replicas < 2) return false;
  if (sets.are_all && sets.devices <= AlikeDevices(cluster, sets.first_device)) return false;
  return !FillDomains(cluster, sets);
}

}  // namespace stagecraft
