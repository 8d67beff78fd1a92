#include "sim/memory/tied_part.h"

#include <algorithm>

#include "costmodel/divide.h"
#include "sim/workload/tied_layers.h"

namespace stagecraft {

namespace {

// Considers the other layers of the stage for which is_counted(layer).
template <typename IsCounted>
TiedPart PartOf(const Plan& plan, const Workload& workload, int stage, const LayerRange& range,
                int layer, IsCounted is_counted) {
  TiedPart part;
  const Stage& s = plan.stages[stage];
  const int64_t own = TiedParameters(workload, layer, s.tensor_parallel);
  if (own == 0 || plan.SplitsVocabulary()) return part;
  for (const LayerRange& chunk : s.chunks) {
    for (int l = chunk.first; l < chunk.first + chunk.count; ++l) {
      if (l == layer) continue;
      const int64_t shared = std::min(own, TiedParameters(workload, l, s.tensor_parallel));
      if (shared == 0 || !is_counted(l)) continue;
      if (chunk == range) {
        int64_t& there = l > layer ? part.after : part.before;
        there = std::max(there, shared);
      } else if (l > layer) {
        part.elsewhere = std::max(part.elsewhere, shared);
      }
    }
  }
  return part;
}

}  // namespace

int64_t TiedParameters(const Workload& workload, int layer, int tensor_parallel) {
  int64_t tied = workload.layer(layer).tied_parameters;
  const bool may_be_home = layer == 0 || layer == workload.layer_count() - 1;
  if (tied == 0 && may_be_home && layer == HomeOfTied(workload)) {
    for (const LayerKind& kind : workload.kinds) tied = std::max(tied, kind.tied_parameters);
  }
  return DivideUp(tied, tensor_parallel);
}

TiedPart TiedPartOf(const Plan& plan, const Workload& workload, int stage, const LayerRange& range,
                    int layer) {
  return PartOf(plan, workload, stage, range, layer, [](int) { return true; });
}

TiedPart TrainedTiedPartOf(const Plan& plan, const Workload& workload, int stage,
                           const LayerRange& range, int layer) {
  return PartOf(plan, workload, stage, range, layer,
                [&](int other) { return TrainsTied(workload, other); });
}

}  // namespace stagecraft
