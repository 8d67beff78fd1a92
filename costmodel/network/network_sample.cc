#include "costmodel/network/network_sample.h"

#include <fmt/core.h>

#include "costmodel/collectives.h"

namespace stagecraft {

const char* Name(Timing timing) {
  constexpr const char* kNames[] = {"collective", "kernel", "framework"};
  return kNames[static_cast<int>(timing)];
}

Bandwidth BusBandwidth(const Op& op, Duration time) {
  const double factor = CollectiveOf(op.kind).BusFactor(op.fabric.ranks);
  return Bandwidth(factor * static_cast<double>(op.bytes.count()) / time.seconds());
}

std::string GroupLabel(const NetworkSample& sample) {
  const Fabric& fabric = sample.op.fabric;
  return fmt::format("{}x{}x{}x{}", fabric.nodes, fabric.ranks, sample.groups, sample.stride);
}

}  // namespace stagecraft
