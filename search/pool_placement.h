// Places the replicas of stages on the devices of pools.
#pragma once

#include <vector>

#include "search/pooled_plan.h"

namespace stagecraft {

// PooledReplicas counts the replicas of one stage.
struct PooledReplicas {
  std::vector<int> counts;  // by pool
  int devices = 1;          // of each replica
};

// The devices, by stage and replica.
using PlacedReplicas = std::vector<std::vector<std::vector<int>>>;

// Places a stage's replicas pool after pool. The devices of a pool are taken one after another:
// stage by stage or, with `stages_first`, by the first replica of all stages, then by the second,
// ... Precondition: the pools have enough devices.
PlacedReplicas PlaceInPools(const std::vector<Pool>& pools,
                            const std::vector<PooledReplicas>& stages, bool stages_first);

}  // namespace stagecraft
