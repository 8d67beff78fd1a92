#include "search/pool_placement.h"

#include <algorithm>
#include <numeric>

namespace stagecraft {

PlacedReplicas PlaceInPools(const std::vector<Pool>& pools,
                            const std::vector<PooledReplicas>& stages, bool stages_first) {
  PlacedReplicas placed(stages.size());
  for (size_t p = 0; p < pools.size(); ++p) {
    int next = pools[p].first;
    const auto place = [&](size_t s) {
      std::vector<int>& devices = placed[s].emplace_back(stages[s].devices);
      std::iota(devices.begin(), devices.end(), next);
      next += stages[s].devices;
    };
    int most = 0;
    for (const PooledReplicas& stage : stages) most = std::max(most, stage.counts[p]);
    for (int r = 0; r < most && stages_first; ++r) {
      for (size_t s = 0; s < stages.size(); ++s) {
        if (r < stages[s].counts[p]) place(s);
      }
    }
    for (size_t s = 0; s < stages.size() && !stages_first; ++s) {
      for (int r = 0; r < stages[s].counts[p]; ++r) place(s);
    }
  }
  return placed;
}

}  // namespace stagecraft
