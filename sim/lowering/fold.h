// Folding: which replicas of a plan do the same at the same time.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
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

}  // namespace stagecraft
