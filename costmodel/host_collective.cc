#include "costmodel/host_collective.h"

#include <cmath>

#include "costmodel/check.h"
#include "costmodel/collective_method.h"
#include "costmodel/link.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// Assumption: what a shared machine makes of short and of long exchanges.
constexpr double kSpread = 0.3;
constexpr double kAccessesOfReduction = 3;

double Seconds(const Op& op, const Device& device) {
  const Fabric& fabric = op.fabric;
  const Link& link = fabric.nodes > 1 ? fabric.inter : fabric.intra;
  const double a = link.latency.seconds();
  const double p = fabric.ranks;
  const auto bytes = static_cast<double>(op.bytes.count());
  const double nb = bytes / link.bandwidth.bytes_per_s();
  const double nc = kAccessesOfReduction * bytes / device.memory_bandwidth.bytes_per_s();
  const double rounds = std::ceil(std::log2(p));
  const double parts = (p - 1) * (a + nb / p);
  const double tree = rounds * (a + nb);
  const double reduce = tree + rounds * nc;
  switch (op.kind) {
    case OpKind::kSendRecv:
      return a + nb;
    case OpKind::kAllGather:
    case OpKind::kAllToAll:
      return parts;
    case OpKind::kReduceScatter:
      return reduce + parts;
    case OpKind::kBroadcast:
      return tree;
    default:
      CHECK(op.kind == OpKind::kAllReduce);
      return reduce + tree;
  }
}

}  // namespace

Estimate PredictHostCollective(const Op& op, const Device& device) {
  CHECK(IsCollective(op.kind));
  if (op.fabric.ranks <= 1) return {Duration(), Basis::kAnalytical, 0};
  const bool is_direct = op.kind == OpKind::kSendRecv || op.kind == OpKind::kAllToAll;
  return {.time = Duration::Seconds(Seconds(op, device)),
          .spread = kSpread,
          .method = {is_direct ? Algorithm::kDirect : Algorithm::kRing, Protocol::kSimple, 1}};
}

}  // namespace stagecraft
