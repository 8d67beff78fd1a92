#include "costmodel/collective_method.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "costmodel/collectives.h"
#include "costmodel/sync_time.h"

namespace stagecraft {
namespace {

// How often the buffer passes the link of a rank inside a node, and how often a node's interfaces.
struct LinkPasses {
  double intra, inter;
};

LinkPasses PassesOf(const Op& op, Algorithm algorithm) {
  const Fabric& fabric = op.fabric;
  const double ranks = fabric.ranks;
  const double here = ranks / fabric.nodes;
  const Collective& collective = CollectiveOf(op.kind);
  if (collective.IsDirect()) {
    const auto [intra, inter] = collective.LoadOfDirect(ranks, here);
    return {intra / ranks, inter / ranks};
  }
  const double passes = collective.BusFactor(fabric.ranks);
  if (collective.passes == Passes::kWholeOnce) return {passes, passes};
  if (algorithm == Algorithm::kNvls) return {collective.NvlsPasses(ranks), 0};
  if (algorithm != Algorithm::kTree) return {passes, passes};
  // The ends of a chain carry half as much as its middle.
  return {fabric.ranks_per_node > 2 ? kTreeTraffic : 1, fabric.nodes == 2 ? 1 : kTreeTraffic};
}

}  // namespace

const char* Name(Protocol protocol) {
  constexpr const char* kNames[] = {"LL", "LL128", "Simple"};
  return kNames[static_cast<int>(protocol)];
}

const char* Name(Algorithm algorithm) {
  constexpr const char* kNames[] = {"ring", "tree", "NVLS", "direct"};
  return kNames[static_cast<int>(algorithm)];
}

Duration BusiestLinkTime(const Op& op, Algorithm algorithm) {
  const Fabric& fabric = op.fabric;
  if (fabric.ranks <= 1) return Duration();
  if (!IsNccl(op.sync.method)) {
    return Duration::Seconds(SyncSeconds(op, RatesOf(op, [](const Link&) { return 1.0; })));
  }
  const bool stays = op.kind != OpKind::kSendRecv || fabric.nodes == 1;
  if (fabric.ranks_per_node <= 1 || !stays) return InterfaceTime(op, algorithm);
  const double seconds = PassesOf(op, algorithm).intra * static_cast<double>(op.bytes.count()) /
                         fabric.intra.bandwidth.bytes_per_s();
  return std::max(Duration::Seconds(seconds), InterfaceTime(op, algorithm));
}

Duration InterfaceTime(const Op& op, Algorithm algorithm) {
  const Fabric& fabric = op.fabric;
  if (fabric.ranks <= 1) return Duration();
  if (!IsNccl(op.sync.method)) {
    const auto leaves = [](const Link& link) {
      return link.kind == LinkKind::kNetwork ? 1.0 : std::numeric_limits<double>::infinity();
    };
    return Duration::Seconds(SyncSeconds(op, RatesOf(op, leaves)));
  }
  if (fabric.nodes == 1) return Duration();
  return Duration::Seconds(PassesOf(op, algorithm).inter * static_cast<double>(op.bytes.count()) /
                           fabric.inter.bandwidth.bytes_per_s());
}

Op AtFullSpeed(Op op) {
  op.fabric.intra_rate = op.fabric.inter_rate = 1;
  return op;
}

Op OverSlowLinks(Op op) {
  Fabric& fabric = op.fabric;
  fabric.intra.bandwidth = fabric.intra_rate * fabric.intra.bandwidth;
  fabric.inter.bandwidth = fabric.inter_rate * fabric.inter.bandwidth;
  return AtFullSpeed(std::move(op));
}

Duration SlowLinkTime(const Op& op, Algorithm algorithm) {
  if (op.fabric.intra_rate == 1 && op.fabric.inter_rate == 1) return Duration();
  return BusiestLinkTime(OverSlowLinks(op), algorithm) - BusiestLinkTime(op, algorithm);
}

}  // namespace stagecraft
