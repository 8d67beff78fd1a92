#include "costmodel/host_collective.h"

#include <cmath>

#include "costmodel/collective_method.h"
#include "costmodel/collectives.h"
#include "costmodel/link.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// An assumption about the scatter of short and of long exchanges on a shared machine.
constexpr double kSpread = 0.3;
constexpr double kAccessesOfReduction = 3;

// Every reduction first reduces to one rank; what follows depends on what each rank then holds and
// has to get.
double Seconds(const Op& op, const Collective& collective, const Device& device) {
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
  if (collective.IsMessage()) return a + nb;
  const double reduce = collective.reduces ? tree + rounds * nc : 0;
  const Holding held = collective.reduces ? Holding::kOne : collective.before;
  const bool goes_whole = held == Holding::kOne && collective.after == Holding::kWhole;
  return reduce + (goes_whole ? tree : parts);
}

}  // namespace

Estimate PredictHostCollective(const Op& op, const Device& device) {
  const Collective& collective = CollectiveOf(op.kind);
  if (op.fabric.ranks <= 1) return {Duration(), Basis::kAnalytical, 0};
  return {.time = Duration::Seconds(Seconds(op, collective, device)),
          .spread = kSpread,
          .method = {collective.IsDirect() ? Algorithm::kDirect : Algorithm::kRing,
                     Protocol::kSimple, 1}};
}

}  // namespace stagecraft
