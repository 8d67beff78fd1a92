#include "costmodel/collective_method.h"

#include <algorithm>

#include "costmodel/sync_time.h"

namespace stagecraft {
namespace {

// Passes of the buffer over the link of a rank inside a node, and over a node's
// interfaces.
struct Passes {
  double intra, inter;
};

Passes PassesOf(const Op& op, Algorithm algorithm) {
  const Fabric& fabric = op.fabric;
  const double ranks = fabric.ranks;
  const double here = ranks / fabric.nodes;
  const double share = (ranks - 1) / ranks;
  if (op.kind == OpKind::kSendRecv || op.kind == OpKind::kBroadcast) return {1, 1};
  if (op.kind == OpKind::kAllToAll) return {(here - 1) / ranks, here * (ranks - here) / ranks};
  const double passes = op.kind == OpKind::kAllReduce ? 2 * share : share;
  if (algorithm == Algorithm::kNvls) return {op.kind == OpKind::kAllReduce ? 1 + 1 / ranks : 1, 0};
  if (algorithm != Algorithm::kTree) return {passes, passes};
  // Ends of a chain carry half of what its middle does.
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
  const Passes passes = PassesOf(op, algorithm);
  const bool stays = op.kind == OpKind::kSendRecv && fabric.nodes > 1;
  double seconds = 0;
  if (fabric.ranks_per_node > 1 && !stays) {
    seconds = passes.intra / fabric.intra.bandwidth.bytes_per_s();
  }
  if (fabric.nodes > 1) {
    seconds = std::max(seconds, passes.inter / fabric.inter.bandwidth.bytes_per_s());
  }
  return Duration::Seconds(seconds * static_cast<double>(op.bytes.count()));
}

}  // namespace stagecraft
