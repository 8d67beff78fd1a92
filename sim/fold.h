// Folding: which replicas of a plan do the same at the same time, and what
// messages between its stages see of the cluster.
#pragma once

#include <vector>

#include "sim/cluster.h"
#include "sim/plan.h"
#include "sim/shard.h"
#include "sim/workload.h"

namespace stagecraft {

// One pipeline to simulate: for each stage the replicas that take part in it.
// Where the plan has separate pipelines, each has one replica of every stage and
// stands for `multiplicity` of them; otherwise there is one pipeline with all
// replicas of every stage.
struct PipelineInstance {
  std::vector<std::vector<int>> replicas;  // by stage
  int multiplicity = 1;
};

struct Folding {
  std::vector<PipelineInstance> instances;
  // Every device of a replica has its own rank; otherwise one stands for all.
  bool unfold_ranks = false;
};
Folding FoldReplicas(const Plan& plan, const Workload& workload, const Cluster& cluster,
                     bool unfold);

// The devices that the message of device `index` of a sending replica leaves and
// reaches.
struct TransferEnds {
  int sender = 0;
  int receiver = 0;
};
TransferEnds FindTransferEnds(const Plan& plan, int from_stage, int from_replica, int to_stage,
                              int to_replica, int index);

// What the message of device `index` of a sending replica sees.
Fabric TransferFabric(const Plan& plan, const Cluster& cluster, int from_stage, int from_replica,
                      int to_stage, int to_replica, int index);

// The devices that reduce gradients together: the same of every stage that holds
// copies of this one's parameters.
std::vector<int> DataDevices(const Plan& plan, int stage, int tensor);

}  // namespace stagecraft
