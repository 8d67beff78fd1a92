// Folding: which replicas of a plan do the same at the same time.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// One pipeline to simulate: the replicas of each stage that take part in it. If the plan has
// separate pipelines, an instance has one replica of every stage and stands for `multiplicity`
// pipelines. Otherwise the only instance has all replicas of every stage.
struct PipelineInstance {
  std::vector<std::vector<int>> replicas;  // by stage
  int multiplicity = 1;
};

struct Folding {
  std::vector<PipelineInstance> instances;
  // Every device of a replica has its own rank; if false, one rank stands for all of them: that of
  // the slowest, for which the others wait in every pass.
  bool unfold_ranks = false;
};
// Returns the device with the least Cluster::speed(); the first of several.
int SlowestDevice(const Cluster& cluster, const std::vector<int>& devices);
Folding FoldReplicas(const Plan& plan, const Workload& workload, const Cluster& cluster,
                     bool unfold);

}  // namespace stagecraft
