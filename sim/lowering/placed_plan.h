// PlacedPlan: what follows from where the devices of a plan stand.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cluster/message_fabrics.h"
#include "sim/lowering/fold.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The devices of a plan, and what follows from where they are alone: plans that differ in
// their layers, or by what they recompute, share it.
class PlacedPlan {
 public:
  PlacedPlan(const Plan& plan, const Workload& workload, const Cluster& cluster, bool unfold);

  // Whether another plan's devices do the same.
  bool Holds(const Plan& plan, bool unfold) const;

  const Folding& folding() const { return folding_; }
  // All devices see it together.
  const Fabric& world() const { return world_; }
  // StageShard() of a plan that it holds.
  ShardSpec Shard(const Plan& plan, int stage, int replica);
  // What each message of FindMessages() sees while all of them are in flight.
  const std::vector<Fabric>& Messages(const Plan& plan, int from_stage, int from_replica,
                                      int to_stage, int to_replica);

 private:
  struct Groups {
    Fabric tensor, context, expert;
  };

  const Workload& workload_;
  const Cluster& cluster_;
  const bool unfold_;
  Plan placed_;  // without layers
  Folding folding_;
  Fabric world_;
  std::map<std::pair<int, int>, Groups> groups_;  // by stage and replica
  MessageFabrics described_;
  std::map<std::array<int, 4>, std::vector<Fabric>> messages_;  // by both stages and replicas
};

}  // namespace stagecraft
