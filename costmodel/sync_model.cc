#include "costmodel/sync_model.h"

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/collective_model.h"
#include "costmodel/sync_time.h"

namespace stagecraft {
namespace {

// Sigma of log(predicted / measured). None of these methods was measured, so this is the sigma of
// NCCL's formula for groups unlike all measured ones.
constexpr double kSpread = 0.6;
constexpr int kSimple = static_cast<int>(Protocol::kSimple);

struct Rounds {
  int intra = 0, inter = 0;
};

// Returns how many messages follow one another.
Rounds RoundsOf(const Op& op) {
  const Fabric& fabric = op.fabric;
  if (op.sync.method == SyncMethod::kHierarchical) {
    return {2 * (fabric.ranks_per_node - 1), 2 * (fabric.nodes - 1)};
  }
  const int rounds = op.sync.method == SyncMethod::kGossip ? 1 : 2;
  const bool crosses =
      fabric.nodes > 1 || (op.sync.servers > 0 && op.sync.worker.kind == LinkKind::kNetwork);
  return crosses ? Rounds{0, rounds} : Rounds{rounds, 0};
}

Duration Latency(const Op& op, const NcclTuning& tuning) {
  constexpr double kMicro = 1e-6;
  const NcclLatency& latency = tuning.ring;
  const Link& intra = op.fabric.intra;
  const Link& inter = op.fabric.nodes > 1 ? op.fabric.inter : op.sync.worker;
  const auto& inside =
      intra.kind == LinkKind::kNvlink ? latency.nvlink_hop_us : latency.pcie_hop_us;
  const Rounds rounds = RoundsOf(op);
  const double seconds =
      latency.base_us[kSimple] * kMicro +
      rounds.intra * std::max(inside[kSimple] * kMicro, intra.latency.seconds()) +
      rounds.inter * std::max(latency.network_hop_us[kSimple] * kMicro, inter.latency.seconds());
  return Duration::Seconds(seconds) + op.sync.timeout;
}

}  // namespace

Estimate PredictSync(const Op& op, const Device& device, const NcclTuning& tuning) {
  const SyncMethod method = op.sync.method;
  CHECK(method != SyncMethod::kAllReduce && op.kind == OpKind::kAllReduce);
  if (op.fabric.ranks <= 1) return {};
  if (IsNccl(method)) {
    const Algorithm only = method == SyncMethod::kRing ? Algorithm::kRing : Algorithm::kTree;
    const CollectiveChoice choice = ChooseCollective(op, device, tuning, only);
    return {.time = choice.time, .spread = kSpread, .method = choice.method};
  }
  const SyncRates rates =
      RatesOf(op, [&](const Link& link) { return tuning.EfficiencyOf(link, device.generation); });
  const Duration moving = Duration::Seconds(SyncSeconds(op, rates));
  return {.time = Latency(op, tuning) + moving,
          .spread = kSpread,
          .method = {Algorithm::kDirect, Protocol::kSimple, 1}};
}

}  // namespace stagecraft
