// PlacedPlan: what follows from the places of a plan's devices.
#pragma once

#include <array>
#include <cstdint>
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

// The devices of a plan, and what follows from their places alone. Plans that differ only in layers
// or in recomputation share one.
class PlacedPlan {
 public:
  PlacedPlan(const Plan& plan, const Workload& workload, const Cluster& cluster, bool unfold);

  // Whether this also describes the devices of another plan.
  bool Holds(const Plan& plan, bool unfold) const;

  const Folding& folding() const { return folding_; }
  // How the cluster connects all devices of the plan together.
  const Fabric& world() const { return world_; }
  // Returns StageShard() of a plan for which Holds() is true.
  ShardSpec Shard(const Plan& plan, int stage, int replica);
  // Returns the fabric of each message of FindMessages() while all of them are in flight.
  const std::vector<Fabric>& Messages(const Plan& plan, int from_stage, int from_replica,
                                      int to_stage, int to_replica);

 private:
  // What a stage says about its devices.
  struct PlacedStage {
    PlacedStage(const Plan& plan, const Stage& stage);
    bool Holds(const Stage& stage) const;

    int tensor = 1, context = 1, expert = 1;
    // Replicas take equally many micro-batches, whatever the number of these is.
    bool shares_evenly = false;
    std::vector<int> replica_micro_batches;
    std::vector<int> devices;  // replica after replica
  };
  struct Groups {
    Fabric tensor, context, expert, expert_node, expert_rail;
  };

  const Workload& workload_;
  const Cluster& cluster_;
  const bool unfold_;
  StepOptions options_;  // of the plan, without its pass orders
  int64_t micro_batches_ = 0;
  int chunks_ = 0;
  std::vector<PlacedStage> stages_;
  Folding folding_;
  Fabric world_;
  std::map<std::pair<int, int>, Groups> groups_;  // by stage and replica
  MessageFabrics described_;
  std::map<std::array<int, 4>, std::vector<Fabric>> messages_;  // by both stages and replicas
};

}  // namespace stagecraft
