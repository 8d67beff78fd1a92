// ShardPlaces: where in the cluster the groups of a plan of equal stages may lie, and which links
// they use there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "search/problem.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// Returns how many replicas of a stage share its experts: at least one.
int SharingReplicas(int expert, int context);

// Returns a stage of these degrees, without layers and devices.
Stage StageWithDegrees(const PlanDegrees& degrees);

// ShardPlaces finds the different places of groups. The devices of a node may be joined pair by
// pair (a cube mesh, PCIe trees, links of a file), and groups may straddle nodes and leaves, so two
// replicas of one stage may use different links. If the nodes are equal and meet at one switch, the
// links of a group follow from the place in its scale-up domain at which it begins.
class ShardPlaces {
 public:
  // The problem must outlive it. Rank r is on devices[r]; all are devices of one kind.
  ShardPlaces(const SearchProblem& problem, std::vector<int> devices);

  const std::vector<int>& devices() const { return devices_; }
  // Returns the shards, with their links, of all stages and replicas that plans of these degrees
  // have, each once; at least one. They are the same for plans with the same KeyOf() and degrees of
  // tensor, context and expert parallelism.
  std::vector<ShardSpec> ShardsOf(const PlanDegrees& degrees);
  // Returns a key of what determines the places of groups apart from their degrees; 0 for rank
  // orders in which groups are consecutive ranks.
  int64_t KeyOf(const PlanDegrees& degrees) const;
  // Returns whether plans of the same degrees in another rank order that is tried may have better
  // links than plans whose groups are consecutive ranks.
  bool MayLieElsewhere(const PlanDegrees& degrees) const;

 private:
  // Place is where one replica of a stage lies, with the replicas that share its experts.
  struct Place {
    std::vector<std::vector<int>> replicas;  // the devices of each
    int replica = 0;
  };
  const std::vector<Place>& PlacesOf(const PlanDegrees& degrees);
  std::vector<Place> FindPlaces(const PlanDegrees& degrees) const;
  std::vector<std::vector<int>> ReplicasFrom(const PlanDegrees& degrees, int stage,
                                             int replica) const;
  ShardSpec ShardAt(const PlanDegrees& degrees, const Place& place) const;

  const SearchProblem& problem_;
  const std::vector<int> devices_;
  // The number of devices of a scale-up domain if the nodes are equal and meet at one switch; else
  // 0.
  const int domain_devices_;
  std::map<std::array<int64_t, 4>, std::vector<Place>> places_;
};

}  // namespace stagecraft
