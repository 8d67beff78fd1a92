// Which devices of pools the replicas of stages take.
#pragma once

#include <vector>

#include "search/pooled_plan.h"

namespace stagecraft {

// Replicas of one stage.
struct PooledReplicas {
  std::vector<int> counts;  // by pool
  int devices = 1;          // of each
};

// Devices by stage and replica.
using PlacedReplicas = std::vector<std::vector<std::vector<int>>>;

// A stage's replicas pool after pool. A pool's devices are taken one after another: stage by
// stage, or with `stages_first` the first replica of all stages, then the second, ... Pools
// must have enough.
PlacedReplicas PlaceInPools(const std::vector<Pool>& pools,
                            const std::vector<PooledReplicas>& stages, bool stages_first);

}  // namespace stagecraft
