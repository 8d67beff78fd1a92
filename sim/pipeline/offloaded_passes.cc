#include "sim/pipeline/offloaded_passes.h"

#include <algorithm>

namespace stagecraft {

std::vector<OffloadedPass> OffloadedPasses(const PassOrder& order) {
  std::vector<std::vector<int>> forwards;  // by chunk, then micro-batch
  std::vector<OffloadedPass> offloaded;
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    const Pass& pass = order[i];
    if (pass.phase == Phase::kForward) {
      const auto chunk = static_cast<size_t>(pass.chunk);
      const auto micro_batch = static_cast<size_t>(pass.micro_batch);
      if (forwards.size() <= chunk) forwards.resize(chunk + 1);
      if (forwards[chunk].size() <= micro_batch) forwards[chunk].resize(micro_batch + 1);
      forwards[chunk][micro_batch] = i;
    } else if (IsBackward(pass.phase)) {
      const OffloadedPass away{forwards[pass.chunk][pass.micro_batch], i};
      if (away.LastBeforeGone() < away.LastBeforeBack()) offloaded.push_back(away);
    }
  }
  std::sort(offloaded.begin(), offloaded.end(),
            [](const OffloadedPass& a, const OffloadedPass& b) { return a.forward < b.forward; });
  return offloaded;
}

}  // namespace stagecraft
