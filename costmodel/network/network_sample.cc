#include "costmodel/network/network_sample.h"

#include <fmt/core.h>

namespace stagecraft {

double BusFactor(OpKind kind, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case OpKind::kAllReduce:
      return 2 * others;
    case OpKind::kBroadcast:
    case OpKind::kSendRecv:
      return 1;
    default:
      return others;
  }
}

Bandwidth BusBandwidth(const Op& op, Duration time) {
  return Bandwidth(BusFactor(op.kind, op.fabric.ranks) * static_cast<double>(op.bytes.count()) /
                   time.seconds());
}

std::string GroupLabel(const NetworkSample& sample) {
  const Fabric& fabric = sample.op.fabric;
  return fmt::format("{}x{}x{}x{}", fabric.nodes, fabric.ranks, sample.groups, sample.stride);
}

}  // namespace stagecraft
