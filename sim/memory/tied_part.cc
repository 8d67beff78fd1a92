#include "sim/memory/tied_part.h"

#include <algorithm>

#include "costmodel/divide.h"

namespace stagecraft {

int64_t TiedParameters(const Workload& workload, int layer, int tensor_parallel) {
  int64_t tied = workload.layer(layer).tied_parameters;
  if (layer == 0) {
    for (const LayerKind& kind : workload.kinds) tied = std::max(tied, kind.tied_parameters);
  }
  return DivideUp(tied, tensor_parallel);
}

TiedPart TiedPartOf(const Plan& plan, const Workload& workload, int stage, const LayerRange& range,
                    int layer) {
  TiedPart part;
  const Stage& s = plan.stages[stage];
  const int64_t own = TiedParameters(workload, layer, s.tensor_parallel);
  if (own == 0 || plan.SplitsVocabulary()) return part;
  for (const LayerRange& chunk : s.chunks) {
    for (int l = chunk.first; l < chunk.first + chunk.count; ++l) {
      if (l == layer) continue;
      const int64_t shared = std::min(own, TiedParameters(workload, l, s.tensor_parallel));
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

}  // namespace stagecraft
