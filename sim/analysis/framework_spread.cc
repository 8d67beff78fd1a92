#include "sim/analysis/framework_spread.h"

#include "costmodel/device.h"

namespace stagecraft {

bool RunsInFramework(const BoundCosts& costs, int32_t rank) {
  if (costs.devices.empty()) return false;  // times alone
  const Device& device = costs.devices[costs.device_of_rank[rank]];
  return device.is_busy && device.generation != Generation::kHost;
}

double FrameworkSpread(OpKind kind) {
  switch (kind) {
    case OpKind::kGemm:
      return 0.03;
    case OpKind::kAttention:
      return 0.1;
    case OpKind::kConvolution:
      return 0.45;
    case OpKind::kElementwise:
    case OpKind::kNorm:
    case OpKind::kSoftmax:
    case OpKind::kSparse:
    case OpKind::kOptimizer:
      return 0.25;
    default:
      return IsCollective(kind) ? 0.1 : 0;
  }
}

}  // namespace stagecraft
