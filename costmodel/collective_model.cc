#include "costmodel/collective_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "costmodel/check.h"
#include "costmodel/collectives.h"

namespace stagecraft {
namespace {

// Factors of tuning.cc: the shares of the bandwidth that protocol and algorithm leave.
constexpr double kRingLlFraction = 0.5;
constexpr double kRingLl128Fraction = 0.92;
constexpr double kTreeFraction = 0.92;
constexpr double kTreeLlFraction = 1.0 / 3.8;
constexpr double kTreeLl128FractionOneNode = 7.0 / 9.0;
constexpr double kTreeLl128Fraction = 120.0 / 128.0;
// Peers that one NCCL kernel serves at a time (NCCL_MAX_DEV_WORK_P2P_PER_BATCH);
// recalled.
constexpr int kPeersPerBatch = 8;
// NCCL starts 16 channels on Hopper; tuning.cc counts one less for NVLS.
constexpr double kNvlsChannels = 16;
constexpr double kTreeCorrectionFirstBytes = 64;

// Sigma of log(predicted / measured) (docs/cost-model.md): on one node and on several, below and
// above a mebibyte.
constexpr Bytes kLargeBytes = Bytes(1 << 20);
constexpr double kSpreadOneNodeSmall = 0.65;
constexpr double kSpreadOneNodeLarge = 0.30;
constexpr double kSpreadNetworkSmall = 0.65;
constexpr double kSpreadNetworkLarge = 0.35;

constexpr Protocol kProtocols[] = {Protocol::kLl, Protocol::kLl128, Protocol::kSimple};

// One collective in the form in which the formulas need it: rates in bytes/s, hops in seconds.
struct Group {
  const Op& op;
  const Collective& collective;
  const NcclTuning& tuning;
  const NcclGeneration& generation;
  double ranks;
  double nodes;
  double ranks_per_node;
  double bytes;
  double intra;     // inside a node, per rank
  double inter;     // across nodes, per node; infinite on one node
  double channels;  // of the ring

  int NodesIndex() const { return op.fabric.nodes == 1 ? 0 : op.fabric.nodes == 2 ? 1 : 2; }
  double Bus() const { return std::min(intra, inter); }
  // The bandwidth of trees, which put twice the buffer on a link. On two nodes the buffer passes
  // the interfaces only once: each node is the root of one half's tree, sends that half down, and
  // sends the other half up.
  double TreeBus() const { return std::min(intra, nodes == 2 ? kTreeTraffic * inter : inter); }
};

constexpr double kMicro = 1e-6;
constexpr double kGiga = 1e9;

double LinkRate(const Link& link, const NcclTuning& tuning, Generation generation) {
  return link.bandwidth.bytes_per_s() * tuning.EfficiencyOf(link, generation);
}

Group MakeGroup(const Op& op, const Device& device, const NcclTuning& tuning) {
  const Fabric& fabric = op.fabric;
  const NcclGeneration& generation = tuning.Of(device.generation);
  const double infinite = std::numeric_limits<double>::infinity();
  // A rank alone on its node never uses the links inside.
  const bool has_intra = fabric.nodes == 1 || fabric.ranks_per_node > 1;
  const double intra = has_intra ? LinkRate(fabric.intra, tuning, device.generation) : infinite;
  double inter = fabric.nodes > 1 ? LinkRate(fabric.inter, tuning, device.generation) : infinite;
  // If GPUs cannot reach the memory of each other, interfaces cannot reach it either.
  if (fabric.nodes > 1 && fabric.intra.kind == LinkKind::kHost) {
    inter = std::min(inter, LinkRate(fabric.intra, tuning, device.generation));
  }
  const double channel = generation.link_gb_per_s * kGiga;
  const double channels = std::max(1.0, std::ceil(std::min(intra, inter) / channel));
  return {op,
          CollectiveOf(op.kind),
          tuning,
          generation,
          static_cast<double>(fabric.ranks),
          static_cast<double>(fabric.nodes),
          static_cast<double>(fabric.ranks) / fabric.nodes,
          static_cast<double>(op.bytes.count()),
          intra,
          inter,
          channels};
}

// Returns the seconds of one hop inside a node, never less than the link's own latency.
double IntraHop(const Group& group, const NcclLatency& latency, int protocol) {
  const Link& link = group.op.fabric.intra;
  const double hop =
      (link.kind == LinkKind::kNvlink ? latency.nvlink_hop_us : latency.pcie_hop_us)[protocol];
  return std::max(hop * kMicro, link.latency.seconds());
}

double InterHop(const Group& group, const NcclLatency& latency, int protocol) {
  return std::max(latency.network_hop_us[protocol] * kMicro,
                  group.op.fabric.inter.latency.seconds());
}

double RingSeconds(const Group& group, Protocol protocol) {
  const int p = static_cast<int>(protocol);
  const NcclLatency& latency = group.tuning.ring;
  const NcclGeneration& generation = group.generation;
  double bus = group.Bus();
  if (protocol == Protocol::kLl) {
    bus = std::min(generation.ll_max_gb_per_s[group.NodesIndex()] * kGiga, kRingLlFraction * bus);
  } else if (protocol == Protocol::kLl128) {
    bus = std::min(kRingLl128Fraction * bus,
                   group.channels * generation.ring_ll128_channel_gb_per_s * kGiga);
  }
  const int rounds = group.collective.Rounds();
  const double steps = rounds * (group.ranks - 1);
  const double inter_steps = rounds * (group.nodes - 1);
  double intra_hop = IntraHop(group, latency, p);
  if (group.nodes > 1) {
    intra_hop = std::max(intra_hop, group.tuning.network_overhead_us[p] * kMicro);
  }
  const double delay = latency.base_us[p] * kMicro + (steps - inter_steps) * intra_hop +
                       inter_steps * InterHop(group, latency, p);
  // The whole buffer of a broadcast passes each link; the other collectives move it in n parts.
  const bool is_whole = group.collective.passes == Passes::kWholeOnce;
  const double passes = is_whole ? 1 : steps / group.ranks;
  return delay + passes * group.bytes / bus;
}

// NCCL's factor is a step function of size; between its points the result is linear in log(size),
// so that more bytes never take less time.
double TreeCorrection(const Group& group, int protocol) {
  const auto& factors = group.tuning.tree_correction[protocol];
  const double at = std::log2(std::max(1.0, group.bytes / kTreeCorrectionFirstBytes));
  const int below = static_cast<int>(at);
  if (below >= kTreeCorrections - 1) return factors.back();
  return factors[below] + (at - below) * (factors[below + 1] - factors[below]);
}

double TreeSeconds(const Group& group, Protocol protocol) {
  const int p = static_cast<int>(protocol);
  const int n = group.NodesIndex();
  const NcclLatency& latency = group.tuning.tree;
  const NcclGeneration& generation = group.generation;
  double bus = std::min(kTreeFraction * group.TreeBus(),
                        group.channels * generation.tree_channel_gb_per_s[n] * kGiga);
  if (protocol == Protocol::kLl) {
    bus = std::min(kTreeLlFraction * bus, generation.ll_max_gb_per_s[n] * kGiga);
  } else if (protocol == Protocol::kLl128) {
    const double fraction = n == 0 ? kTreeLl128FractionOneNode : kTreeLl128Fraction;
    bus = std::min(fraction * bus,
                   group.channels * generation.tree_ll128_channel_gb_per_s[n] * kGiga);
  }
  const double levels = std::log2(group.nodes);
  const double delay =
      latency.base_us[p] * kMicro + 2 * ((group.ranks_per_node - 1) * IntraHop(group, latency, p) +
                                         levels * InterHop(group, latency, p));
  return delay + kTreeTraffic * group.bytes / (bus * TreeCorrection(group, p));
}

double NvlsSeconds(const Group& group) {
  const double rate =
      group.intra * group.generation.nvls_efficiency * (kNvlsChannels - 1) / kNvlsChannels;
  const double passes = group.collective.NvlsPasses(group.ranks);
  return group.tuning.nvls_hop_us * kMicro + passes * group.bytes / rate;
}

// Returns the seconds of messages between pairs: those that stay inside a node and those that leave
// it are sent at the same time.
double DirectSeconds(const Group& group, Protocol protocol) {
  const int p = static_cast<int>(protocol);
  const NcclLatency& latency = group.tuning.ring;
  const double wire = protocol == Protocol::kLl ? 1 / kRingLlFraction : 1;
  const bool crosses = group.nodes > 1;
  const double hop = crosses ? InterHop(group, latency, p) : IntraHop(group, latency, p);
  if (group.collective.IsMessage()) {
    const double rate = crosses ? group.inter : group.intra;
    return latency.base_us[p] * kMicro + hop + wire * group.bytes / rate;
  }
  const double batches = std::ceil((group.ranks - 1) / kPeersPerBatch);
  const double share = group.bytes / group.ranks;
  const auto [parts_inside, parts_outside] =
      group.collective.LoadOfDirect(group.ranks, group.ranks_per_node);
  const double inside = parts_inside * share / group.intra;
  const double outside = parts_outside * share / group.inter;
  return latency.base_us[p] * kMicro + batches * hop + wire * std::max(inside, outside);
}

// LL128 needs 128-byte stores that are not torn, which NVLink gives on Volta and later. RCCL has
// LL128, too.
bool HasLl128(const Group& group, const Device& device) {
  if (NcclRow(device.generation) == NcclRow(Generation::kPascal)) return false;
  return group.op.fabric.intra.kind == LinkKind::kNvlink;
}

bool HasNvls(const Group& group) {
  return group.op.fabric.nvls && group.nodes == 1 && group.generation.nvls_efficiency > 0 &&
         group.collective.HasNvls();
}

double Spread(const Op& op) {
  const bool large = op.bytes >= kLargeBytes;
  if (op.fabric.nodes == 1) return large ? kSpreadOneNodeLarge : kSpreadOneNodeSmall;
  return large ? kSpreadNetworkLarge : kSpreadNetworkSmall;
}

}  // namespace

CollectiveChoice ChooseCollective(const Op& op, const Device& device, const NcclTuning& tuning,
                                  std::optional<Algorithm> only) {
  CHECK(IsCollective(op.kind));
  if (op.fabric.ranks <= 1) return {};
  const Group group = MakeGroup(op, device, tuning);
  CollectiveChoice best{.method = {.channels = static_cast<int>(group.channels)},
                        .time = Duration::Max()};
  const auto offer = [&best](Algorithm algorithm, Protocol protocol, double seconds) {
    const Duration time = Duration::Seconds(seconds);
    if (time < best.time) best = {{algorithm, protocol, best.method.channels}, time};
  };
  const bool has_tree = group.collective.HasTree() && only != Algorithm::kRing;
  for (const Protocol protocol : kProtocols) {
    if (group.collective.IsDirect()) {
      // Point-to-point kernels have LL and Simple only.
      if (protocol == Protocol::kLl128) continue;
      offer(Algorithm::kDirect, protocol, DirectSeconds(group, protocol));
      continue;
    }
    if (protocol == Protocol::kLl128 && !HasLl128(group, device)) continue;
    if (has_tree) offer(Algorithm::kTree, protocol, TreeSeconds(group, protocol));
    if (has_tree && only == Algorithm::kTree) continue;
    offer(Algorithm::kRing, protocol, RingSeconds(group, protocol));
  }
  const bool may_multicast = !only || only == Algorithm::kNvls;
  if (may_multicast && HasNvls(group)) {
    offer(Algorithm::kNvls, Protocol::kSimple, NvlsSeconds(group));
  }
  return best;
}

Estimate PredictCollective(const Op& op, const Device& device, const NcclTuning& tuning) {
  if (op.fabric.ranks <= 1) return {Duration(), Basis::kAnalytical, 0};
  const CollectiveChoice choice = ChooseCollective(op, device, tuning);
  return {.time = choice.time, .spread = Spread(op), .method = choice.method};
}

}  // namespace stagecraft
