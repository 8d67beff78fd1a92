// The shares that groups and messages have of uplinks and joins.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "sim/cluster/topology/interconnect.h"

namespace stagecraft {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Returns the bytes that cross a cut while every domain sends one byte, if `ranks` of `all` ranks
// are inside. A ring enters and leaves a cut once; a domain that lies partly inside sends that
// part. In an all-to-all each rank sends its share of the byte to the ranks of other domains, and
// the part for those outside crosses.
double CrossingLoad(double ranks, double all, double per_domain, Traffic traffic) {
  if (ranks >= all) return 0;
  if (traffic == Traffic::kRing || all <= per_domain) return std::min(1.0, ranks / per_domain);
  return ranks / per_domain * (all - ranks) / (all - per_domain);
}

}  // namespace

Bandwidth Interconnect::JoinWidth(int from, int to) const {
  double least = kUnlimited;
  for (int at = from; at != to;) {
    const FabricJoin& join = spec_.joins[next_join_[at][to]];
    least =
        std::min({least, join.there.bandwidth.bytes_per_s(), join.back.bandwidth.bytes_per_s()});
    at = join.from == at ? join.to : join.from;
  }
  return Bandwidth(least);
}

std::vector<Interconnect::Cut> Interconnect::FindCuts(std::span<const PortRanks> group) const {
  std::map<std::pair<int, int>, Cut> leaves, pods;  // by fabric and number
  for (const PortRanks& member : group) {
    const Place place = PlaceOf(member.port.node);
    const SwitchedFabric& fabric = fabrics_[place.fabric];
    if (fabric.spec().kind == FabricKind::kSingleSwitch) continue;
    const int leaf = LeafOf(place, member.port.rail);
    Cut& below_leaf = leaves[{place.fabric, leaf}];
    below_leaf.width = fabric.LeafUplinks();
    below_leaf.devices = leaf_devices_[place.fabric][leaf];
    below_leaf.ranks += member.ranks;
    if (fabric.spec().kind == FabricKind::kRailOptimised) below_leaf.rail = member.port.rail;
    if (fabric.spec().tiers.size() < 2) continue;
    const int pod = fabric.PodOfLeaf(leaf);
    Cut& below_pod = pods[{place.fabric, pod}];
    below_pod.width = fabric.PodUplinks();
    below_pod.devices = pod_devices_[place.fabric][pod];
    below_pod.ranks += member.ranks;
  }
  std::vector<Cut> cuts;
  for (const auto& [key, cut] : leaves) cuts.push_back(cut);
  for (const auto& [key, cut] : pods) cuts.push_back(cut);
  AddJoins(group, &cuts);
  return cuts;
}

void Interconnect::AddJoins(std::span<const PortRanks> group, std::vector<Cut>* cuts) const {
  std::map<int, int64_t> ranks;  // by fabric
  for (const PortRanks& member : group) ranks[PlaceOf(member.port.node).fabric] += member.ranks;
  for (const auto& [from, count] : ranks) {
    for (const auto& [to, other_count] : ranks) {
      if (from != to) cuts->push_back({JoinWidth(from, to), fabric_devices_[from], count});
    }
  }
}

Bandwidth Interconnect::GroupShare(std::span<const PortRanks> group, int per_domain,
                                   Traffic traffic) const {
  if (IsSingleSwitch(spec_)) return Bandwidth(kUnlimited);
  double all = 0;
  std::map<int, double> on_rail;
  for (const PortRanks& member : group) {
    all += member.ranks;
    on_rail[member.port.rail] += member.ranks;
  }
  double least = kUnlimited;
  for (const Cut& cut : FindCuts(group)) {
    const double there = cut.rail < 0 ? all : on_rail[cut.rail];
    const double part = there / all;  // of a domain's bytes
    const double ranks = static_cast<double>(cut.ranks);
    const double load = part * CrossingLoad(ranks, there, part * per_domain, traffic);
    if (load <= 0) continue;
    const double share = cut.width.bytes_per_s() * ranks / static_cast<double>(cut.devices);
    least = std::min(least, share / load);
  }
  return Bandwidth(least);
}

double Interconnect::Senders(int link) const {
  if (link >= first_link_.back()) {
    const int64_t at = link - first_link_.back();
    const FabricJoin& join = spec_.joins[at / 2];
    return static_cast<double>(fabric_devices_[at % 2 == 0 ? join.from : join.to]);
  }
  const auto after = std::upper_bound(first_link_.begin(), first_link_.end(), link);
  const auto f = static_cast<size_t>(after - first_link_.begin()) - 1;
  const SwitchedFabric::Above above =
      fabrics_[f].AboveWhat(link - static_cast<int>(first_link_[f]));
  double devices = 0;
  if (above.leaf >= 0) {
    devices = static_cast<double>(leaf_devices_[f][above.leaf]);
  } else if (above.pod >= 0) {
    devices = static_cast<double>(pod_devices_[f][above.pod]);
  } else {
    devices = static_cast<double>(fabric_devices_[f]);
  }
  return devices / static_cast<double>(above.like);
}

Bandwidth Interconnect::MessageShare(const Port& from, const Port& to, int concurrent) const {
  if (IsSingleSwitch(spec_)) return Bandwidth(kUnlimited);
  // The cuts between the ports are those of a group with one rank behind each.
  const std::vector<PortRanks> pair = {{from, 1}, {to, 1}};
  const Place start = PlaceOf(from.node);
  const Place goal = PlaceOf(to.node);
  const bool same_leaf =
      start.fabric == goal.fabric && LeafOf(start, from.rail) == LeafOf(goal, to.rail);
  if (same_leaf) return Bandwidth(kUnlimited);
  double least = kUnlimited;
  for (const Cut& cut : FindCuts(pair)) {
    if (cut.ranks == 2) continue;  // both ends are in this pod
    // The ends may be unlike nodes; the smaller share counts.
    for (const Place& place : {start, goal}) {
      const std::vector<int>& served = place.nodes->rail_devices;
      if (cut.rail >= std::ssize(served)) continue;
      double devices = 0;
      for (const int count : served) devices += count;
      const double behind = cut.rail < 0 ? devices : served[cut.rail];
      const double messages =
          cut.rail < 0 ? concurrent
                       : std::max(1.0, static_cast<double>(concurrent) / std::ssize(served));
      const double width = cut.width.bytes_per_s() / static_cast<double>(cut.devices);
      least = std::min(least, width * behind / messages);
    }
  }
  return Bandwidth(least);
}

}  // namespace stagecraft
