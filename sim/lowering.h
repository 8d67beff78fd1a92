// Lowering: Plan x Workload x Cluster -> Schedule.
//
// Replicas whose devices, groups and routes are alike do the same at the same
// time: one representative of each such class is simulated, and one rank
// stands for a tensor- and context-parallel group. `unfold` simulates every
// device. Both give the same times to the nanosecond.
#pragma once

#include <vector>

#include "sim/cluster.h"
#include "sim/pipeline/order.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "sim/shard.h"
#include "sim/workload.h"

namespace stagecraft {

struct LoweringOptions {
  bool unfold = false;
  bool with_optimizer = true;  // off: forward and backward passes alone
};

// The plan must have no FindErrors(). Cost: linear in the tasks of the
// simulated ranks, plus the devices of the cluster once.
Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options = {});

// The order in which a replica of a stage runs its passes; where HasSeparatePipelines(),
// PipelineOrdersOf() says so of all stages at once.
PassOrder StageOrder(const Plan& plan, int stage, int replica);
PipelineOrders PipelineOrdersOf(const Plan& plan, int replica);

// How a replica of a stage divides its layers on this cluster.
ShardSpec StageShard(const Plan& plan, const Workload& workload, const Cluster& cluster, int stage,
                     int replica);

// Parameters of a stage on one of its ranks, by chunk.
std::vector<ParameterCount> ChunkParameters(const Plan& plan, const Workload& workload, int stage);

}  // namespace stagecraft
