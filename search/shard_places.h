// ShardPlaces: where the groups of a plan of equal stages may lie, and what they see of the cluster
// there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "search/problem.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// How many replicas of a stage share its experts: at least one.
int SharingReplicas(int expert, int context);

// A stage of these degrees, without its layers and devices.
Stage StageWithDegrees(const PlanDegrees& degrees);

// The devices of a cluster's nodes may be joined pair by pair (a cube mesh, PCIe trees, links
// of a file), and groups may straddle nodes and leaves, so two replicas of one stage may see
// different links. Where the nodes are equal and meet at one switch, what a group sees follows
// from the place in its scale-up domain at which it begins.
class ShardPlaces {
 public:
  // The problem must outlive it. Rank r is on devices[r]; all are devices of one kind.
  ShardPlaces(const SearchProblem& problem, std::vector<int> devices);

  const std::vector<int>& devices() const { return devices_; }
  // What a stage may see of the cluster, over all stages and replicas that plans of these degrees
  // have, each once; at least one. It is the same for plans with the same KeyOf() and degrees of
  // tensor, context and expert parallelism.
  std::vector<ShardSpec> ShardsOf(const PlanDegrees& degrees);
  // 0 for the rank orders in which groups are consecutive ranks.
  int64_t KeyOf(const PlanDegrees& degrees) const;
  // Whether plans of the same degrees in a rank order that is tried may see better links than those
  // whose groups are consecutive ranks.
  bool MayLieElsewhere(const PlanDegrees& degrees) const;

 private:
  // One of the replicas that share the experts of a stage.
  struct Place {
    std::vector<std::vector<int>> replicas;  // devices of each
    int replica = 0;
  };
  const std::vector<Place>& PlacesOf(const PlanDegrees& degrees);
  std::vector<Place> FindPlaces(const PlanDegrees& degrees) const;
  std::vector<std::vector<int>> ReplicasFrom(const PlanDegrees& degrees, int stage,
                                             int replica) const;
  ShardSpec ShardAt(const PlanDegrees& degrees, const Place& place) const;

  const SearchProblem& problem_;
  const std::vector<int> devices_;
  // Devices of a scale-up domain if the nodes are equal and meet at one switch; else 0.
  const int domain_devices_;
  std::map<std::array<int64_t, 4>, std::vector<Place>> places_;
};

}  // namespace stagecraft
