// What a stage of a plan runs, and how it divides its layers.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/pass_order.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the passes of a replica of a stage, in order; if HasSeparatePipelines(),
// PassOrdersOf() gives those of all stages at once.
PassOrder StageOrder(const Plan& plan, int stage, int replica);
PassOrders PassOrdersOf(const Plan& plan, int replica);

// Returns the pass orders of the pipeline schedule that the plan names, even if the plan lists
// passes itself; without backwards if the plan runs none. `inputs` are those of MakePassOrders().
PassOrders MakePipelineSchedules(const Plan& plan, int replica, const PassOrderInputs* inputs);

// Returns how the ranks of a stage divide its layers, regardless of how their groups see the
// cluster.
ShardSpec StageDivision(const Plan& plan, const Workload& workload, int stage);

// Returns how a replica of a stage divides its layers on this cluster. Of groups that exchange side
// by side, in lockstep, the slowest counts.
ShardSpec StageShard(const Plan& plan, const Workload& workload, const Cluster& cluster, int stage,
                     int replica);

// Returns the devices with tensor index `tensor` in every replica and at every context index of a
// stage.
std::vector<int> ReplicaDevices(const Stage& stage, int tensor);

// Return the parameters that one rank of a stage would hold of a layer, by its kind: all, or those
// that are trained. Layers of the first stage that are tied to the embedding count as if they were
// not.
std::vector<ParameterCount> KindParameters(const Plan& plan, const Workload& workload, int stage);
std::vector<ParameterCount> TrainedKindParameters(const Plan& plan, const Workload& workload,
                                                  int stage);

// Return the parameters of a stage on one of its ranks, by chunk, with those of its parts of a
// split vocabulary: all, or those that are trained.
std::vector<ParameterCount> ChunkParameters(const Plan& plan, const Workload& workload, int stage);
std::vector<ParameterCount> TrainedChunkParameters(const Plan& plan, const Workload& workload,
                                                   int stage);

// Returns the ShardIndices() of all layers of a stage. ZeRO does not divide them.
Bytes StageIndices(const Plan& plan, const Workload& workload, int stage);

}  // namespace stagecraft
