#include "sim/cluster/topology/fabric_proto.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "costmodel/enum_to_proto.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/nearest.h"
#include "costmodel/physical_range.h"

namespace stagecraft {
namespace {

// The enumerators of the proto start with "unspecified".
static_assert(static_cast<int>(FabricKind::kSingleSwitch) + 1 ==
              SwitchedFabricProto::SINGLE_SWITCH);
static_assert(static_cast<int>(FabricKind::kRailOptimised) + 1 ==
              SwitchedFabricProto::RAIL_OPTIMISED);
static_assert(static_cast<int>(FabricKind::kFatTree) + 1 == SwitchedFabricProto::FAT_TREE);

// The latency from leaf to spine or back, through a switch and a cable: an assumption, of the order
// of magnitude that vendors state for InfiniBand switches.
constexpr Duration kHopLatency = Duration::Nanoseconds(300);
constexpr int kMaxRadix = 1 << 16;

[[noreturn]] void Fail(const std::string& key, double got, const std::string& want) {
  std::string number = std::to_string(got);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  throw InputError(key + ": got " + number + ", want " + want);
}

void CheckRatio(double ratio, const std::string& place) {
  if (ratio >= 1e-3 && ratio <= 1e3) return;
  Fail(place + ".oversubscription", ratio, "from 0.001 to 1000, or up for the link itself");
}

// Returns how many ports of a leaf connect nodes; the others lead up.
int DownPorts(int radix, double oversubscription) {
  return static_cast<int>(std::floor(radix * oversubscription / (1 + oversubscription)));
}

// `below` is the bandwidth that enters a switch from below; `port` is that of one such port.
FabricTier TierFromProto(const FabricTierProto& proto, int uplinks, Bandwidth below, Bandwidth port,
                         const std::string& place) {
  FabricTier tier;
  tier.uplinks = uplinks;
  if (proto.has_up() == (proto.oversubscription() != 0)) {
    throw InputError(place + ".up: got " + (proto.has_up() ? "both" : "neither") +
                     " of up and oversubscription, want one");
  }
  if (proto.has_up()) {
    tier.up = LinkFromProto(proto.up(), place + ".up");
    if (uplinks == 0) Fail(place + ".uplinks", 0, "at least 1 beside up");
  } else {
    CheckRatio(proto.oversubscription(), place);
    const double above = below.bytes_per_s() / proto.oversubscription();
    if (uplinks == 0) {
      const double wanted = std::ceil(above / port.bytes_per_s());
      if (wanted > kMaxUplinks) {
        Fail(place + ".oversubscription", proto.oversubscription(),
             "a ratio for which " + std::to_string(kMaxUplinks) + " uplinks are enough");
      }
      tier.uplinks = static_cast<int>(wanted);
    }
    const bool has_latency = proto.has_latency_ns();
    CheckPhysical(place + ".latency_ns", static_cast<double>(proto.latency_ns()), LatencyRange());
    tier.up = {LinkKind::kNetwork,
               has_latency ? Duration::Nanoseconds(proto.latency_ns()) : kHopLatency,
               Bandwidth(above / std::max(tier.uplinks, 1))};
  }
  tier.down = proto.has_down() ? LinkFromProto(proto.down(), place + ".down") : tier.up;
  return tier;
}

// The nodes of a leaf and, if a radix is given, the ports that they leave for uplinks.
struct LeafSize {
  int nodes = 0;
  int uplinks = 0;
};

// Sizes the uplinks for the fullest leaf.
LeafSize UnevenLeaves(const SwitchedFabricProto& proto, const FabricDemand& demand,
                      const std::string& place) {
  int64_t nodes = 0;
  for (const int on_leaf : proto.leaf_nodes()) nodes += on_leaf;
  if (nodes != demand.nodes) {
    Fail(place + ".leaf_nodes", static_cast<double>(nodes),
         "the " + std::to_string(demand.nodes) + " nodes of the fabric in all");
  }
  return {*std::max_element(proto.leaf_nodes().begin(), proto.leaf_nodes().end()), 0};
}

LeafSize LeafSizeOf(const SwitchedFabricProto& proto, const FabricDemand& demand,
                    const std::string& place) {
  const int given = (proto.nodes_per_leaf() != 0) + (proto.leaves() != 0) + (proto.radix() != 0) +
                    (proto.leaf_nodes_size() > 0);
  if (given != 1) {
    Fail(place + ".nodes_per_leaf", given,
         "exactly one of nodes_per_leaf, leaf_nodes, leaves and radix");
  }
  if (proto.leaf_nodes_size() > 0) return UnevenLeaves(proto, demand, place);
  if (proto.nodes_per_leaf() != 0) return {proto.nodes_per_leaf(), 0};
  if (proto.leaves() != 0) {
    if (proto.leaves() < 0) Fail(place + ".leaves", proto.leaves(), "at least 1");
    return {std::max(1, static_cast<int>(DivideUp(demand.nodes, proto.leaves()))), 0};
  }
  const int radix = proto.radix();
  if (radix < 2 || radix > kMaxRadix) {
    Fail(place + ".radix", radix, "from 2 to " + std::to_string(kMaxRadix));
  }
  const FabricTierProto& tier = proto.tiers(0);
  if (!tier.has_up()) CheckRatio(tier.oversubscription(), place + ".tiers[0]");
  const int down =
      tier.has_up() ? radix - tier.uplinks() : DownPorts(radix, tier.oversubscription());
  const int ports = proto.kind() == SwitchedFabricProto::RAIL_OPTIMISED ? 1 : demand.rails;
  if (down < ports || down >= radix) {
    Fail(place + ".radix", radix,
         "ports for the " + std::to_string(ports) + " interfaces of a node and an uplink");
  }
  return {down / ports, radix - down};
}

}  // namespace

FabricSpec FabricFromProto(const SwitchedFabricProto& proto, const FabricDemand& demand,
                           const std::string& place) {
  FabricSpec spec;
  if (!proto.name().empty()) spec.name = proto.name();
  if (proto.kind() < SwitchedFabricProto::SINGLE_SWITCH ||
      proto.kind() > SwitchedFabricProto::FAT_TREE) {
    throw InputError(place + ".kind: got " +
                     (proto.kind() == 0 ? std::string("none") : std::to_string(proto.kind())) +
                     ", want SINGLE_SWITCH, RAIL_OPTIMISED or FAT_TREE");
  }
  spec.kind = static_cast<FabricKind>(proto.kind() - 1);
  if (spec.kind == FabricKind::kSingleSwitch) {
    if (proto.nodes_per_leaf() != 0 || proto.leaves() != 0 || proto.radix() != 0 ||
        proto.tiers_size() != 0 || proto.leaf_nodes_size() != 0 || proto.nodes_per_pod() != 0) {
      throw InputError(place +
                       ".kind: got SINGLE_SWITCH with leaves, want RAIL_OPTIMISED or "
                       "FAT_TREE");
    }
    return spec;
  }
  if (demand.nodes < 1 || !(demand.rail.bytes_per_s() > 0)) {
    throw InputError(place + ".name: got no nodes with interfaces in \"" + spec.name +
                     "\", want node_groups of that fabric");
  }
  const int wanted = proto.nodes_per_pod() != 0 ? 2 : 1;
  if (proto.tiers_size() != wanted) {
    Fail(place + ".tiers", proto.tiers_size(),
         wanted == 2 ? "two, spines and cores, with nodes_per_pod"
                     : "one, or two and nodes_per_pod");
  }
  const LeafSize leaf = LeafSizeOf(proto, demand, place);
  spec.leaf_nodes.assign(proto.leaf_nodes().begin(), proto.leaf_nodes().end());
  if (spec.leaf_nodes.empty()) spec.nodes_per_leaf = leaf.nodes;
  spec.nodes_per_pod = proto.nodes_per_pod();
  const bool has_rails = spec.kind == FabricKind::kRailOptimised;
  const double ports = static_cast<double>(leaf.nodes) * (has_rails ? 1 : demand.rails);
  Bandwidth below = ports * demand.rail;
  Bandwidth port = demand.rail;
  double leaves = 0;  // of a pod
  if (leaf.nodes > 0) {
    leaves = 1.0 * proto.nodes_per_pod() / leaf.nodes * (has_rails ? demand.rails : 1);
  }
  for (int t = 0; t < proto.tiers_size(); ++t) {
    const FabricTierProto& tier = proto.tiers(t);
    const int uplinks = t == 0 && leaf.uplinks > 0 ? leaf.uplinks : tier.uplinks();
    spec.tiers.push_back(
        TierFromProto(tier, uplinks, below, port, place + ".tiers[" + std::to_string(t) + "]"));
    port = spec.tiers.back().up.bandwidth;
    below = leaves * port;
  }
  return spec;
}

int FindFabric(const std::string& name, std::span<const FabricSpec> fabrics,
               const std::string& place) {
  std::vector<std::string> known;
  for (size_t f = 0; f < fabrics.size(); ++f) {
    if (fabrics[f].name == name) return static_cast<int>(f);
    known.push_back(fabrics[f].name);
  }
  throw InputError(place + ": unknown fabric \"" + name + "\"; " + NearestNames(name, known));
}

FabricJoin FabricJoinFromProto(const FabricJoinProto& proto, std::span<const FabricSpec> fabrics,
                               const std::string& place) {
  FabricJoin join;
  join.from = FindFabric(proto.from(), fabrics, place + ".from");
  join.to = FindFabric(proto.to(), fabrics, place + ".to");
  join.there = LinkFromProto(proto.link(), place + ".link");
  join.back = proto.has_back() ? LinkFromProto(proto.back(), place + ".back") : join.there;
  return join;
}

SwitchedFabricProto ToProto(const FabricSpec& spec) {
  SwitchedFabricProto proto;
  proto.set_name(spec.name);
  proto.set_kind(EnumToProto<SwitchedFabricProto::Kind>(spec.kind));
  proto.set_nodes_per_leaf(spec.nodes_per_leaf);
  proto.mutable_leaf_nodes()->Add(spec.leaf_nodes.begin(), spec.leaf_nodes.end());
  proto.set_nodes_per_pod(spec.nodes_per_pod);
  for (const FabricTier& tier : spec.tiers) {
    FabricTierProto* added = proto.add_tiers();
    added->set_uplinks(tier.uplinks);
    *added->mutable_up() = ToProto(tier.up);
    if (tier.down != tier.up) *added->mutable_down() = ToProto(tier.down);
  }
  return proto;
}

FabricJoinProto ToProto(const FabricJoin& join, std::span<const FabricSpec> fabrics) {
  FabricJoinProto proto;
  proto.set_from(fabrics[join.from].name);
  proto.set_to(fabrics[join.to].name);
  *proto.mutable_link() = ToProto(join.there);
  if (join.back != join.there) *proto.mutable_back() = ToProto(join.back);
  return proto;
}

}  // namespace stagecraft
