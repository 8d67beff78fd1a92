// What a rank of a plan holds: the workload's tensors as its stage and sharding
// have them.
#pragma once

#include "sim/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/rank_memory.h"
#include "sim/plan.h"
#include "sim/workload.h"

namespace stagecraft {

// Of any rank of a replica of a stage; they are alike but for their boards'
// memory. The board's generation is the first one's.
RankTensors MakeRankTensors(const Plan& plan, const Workload& workload, const Cluster& cluster,
                            int stage, int replica, const FrameworkMemory& framework);

}  // namespace stagecraft
