#include "sim/cluster/slowest_group.h"

#include <tuple>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Returns a key by which fabrics ascend from slow to fast.
auto SpeedOf(const Fabric& fabric) {
  return std::tuple(-fabric.nodes, fabric.inter_rate * fabric.inter.bandwidth.bytes_per_s(),
                    fabric.intra_rate * fabric.intra.bandwidth.bytes_per_s(),
                    -fabric.inter.latency.ns(), -fabric.intra.latency.ns(), fabric.nvls,
                    fabric.ranks_per_node, static_cast<int>(fabric.inter.kind),
                    static_cast<int>(fabric.intra.kind), fabric.inter_rate, fabric.intra_rate);
}

}  // namespace

bool IsSlower(const Fabric& a, const Fabric& b) { return SpeedOf(a) < SpeedOf(b); }

Fabric SlowestGroup(const Cluster& cluster, std::span<const std::vector<int>> groups,
                    Traffic traffic) {
  CHECK(!groups.empty());
  Fabric slowest = cluster.DescribeGroup(groups[0], traffic);
  for (const std::vector<int>& group : groups.subspan(1)) {
    const Fabric fabric = cluster.DescribeGroup(group, traffic);
    if (IsSlower(fabric, slowest)) slowest = fabric;
  }
  return slowest;
}

}  // namespace stagecraft
