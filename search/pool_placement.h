// Which devices of pools the replicas of stages take.
#pragma once

#include <vector>

#include "search/pooled_plan.h"

namespace stagecraft {

// The replicas of one stage.
struct PooledReplicas {
  std::vector<int> counts;  // by pool
  int devices = 1;          // of each replica
};

// Devices by stage and replica.
using PlacedReplicas = std::vector<std::vector<std::vector<int>>>;

// Places a stage's replicas pool after pool. The devices of a pool are taken one after another:
// stage by stage, or with `stages_first` the first replica of all stages, then the second, ...
// Precondition: pools have enough devices.
PlacedReplicas PlaceInPools(const std::vector<Pool>& pools,
                            const std::vector<PooledReplicas>& stages, bool stages_first);

}  // namespace stagecraft
