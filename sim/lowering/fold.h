// Folding: which replicas of a plan do the same at the same time, and who sends to whom.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cluster/message_fabrics.h"
#include "sim/plan/plan.h"
#include "sim/plan/tied_stages.h"
#include "sim/workload/workload.h"

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

// The messages by which a replica of a stage hands on a micro-batch: from each of its devices
// one, to the device of the same index of the receiving replica, counted round where that has
// fewer.
std::vector<MessageEnds> FindMessages(const Plan& plan, int from_stage, int from_replica,
                                      int to_stage, int to_replica);

// The devices that reduce gradients together: the same of every stage that holds
// copies of this one's parameters.
std::vector<int> DataDevices(const Plan& plan, int stage, int tensor);

// The devices of a pipeline that add up the gradients of an embedding and a head that are one
// tensor: of each replica of the two stages that of index `rank`, counted round.
std::vector<int> TiedDevices(const Plan& plan, const TiedStages& tied,
                             const PipelineInstance& instance, int rank);

}  // namespace stagecraft
