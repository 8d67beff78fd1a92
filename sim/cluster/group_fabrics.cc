#include "sim/cluster/group_fabrics.h"

#include <algorithm>
#include <map>

#include "costmodel/check.h"

namespace stagecraft {

bool GroupFabrics::NodesAreAlike() const {
  return !cluster_.has_explicit_links() && IsSingleSwitch(cluster_.interconnect()) &&
         cluster_.slow_parts().links.empty();
}

bool GroupFabrics::AreAlike(std::span<const int> a, std::span<const int> b) const {
  if (a.size() != b.size()) return false;
  const int nodes_on = cluster_.place(b[0]).node - cluster_.place(a[0]).node;
  for (size_t i = 0; i < a.size(); ++i) {
    const DevicePlace x = cluster_.place(a[i]), y = cluster_.place(b[i]);
    if (x.local != y.local || y.node - x.node != nodes_on) return false;
    if (cluster_.device_group(a[i]) != cluster_.device_group(b[i])) return false;
  }
  return true;
}

GroupFabrics::DomainRanks GroupFabrics::Describe(std::span<const int> of_domain) const {
  DomainRanks ranks;
  ranks.count = static_cast<int>(of_domain.size());
  for (const int device : of_domain) {
    const DevicePlace place = cluster_.place(device);
    if (ranks.nodes.empty() || ranks.nodes.back().node != place.node) {
      ranks.nodes.push_back({place.node, {}});
    }
    ranks.nodes.back().locals.push_back(place.local);
  }
  return ranks;
}

// A large group has few kinds of domains, most often one.
GroupFabrics::Domains GroupFabrics::ByDomain(std::span<const int> devices) const {
  CHECK(!devices.empty());
  std::vector<int> copy;
  if (!std::is_sorted(devices.begin(), devices.end())) {
    copy.assign(devices.begin(), devices.end());
    std::sort(copy.begin(), copy.end());
    devices = copy;
  }
  CHECK(devices.front() >= 0 && devices.back() < cluster_.device_count());
  CHECK(std::adjacent_find(devices.begin(), devices.end()) == devices.end());
  const bool are_alike = NodesAreAlike();
  Domains domains;
  std::vector<std::span<const int>> seen;  // one for each of the kinds
  for (size_t first = 0, end = 0; first < devices.size(); first = end) {
    const int domain = cluster_.domain(cluster_.place(devices[first]).node);
    while (end < devices.size() && cluster_.domain(cluster_.place(devices[end]).node) == domain) {
      ++end;
    }
    ++domains.count;
    const std::span<const int> own = devices.subspan(first, end - first);
    const auto is_own = [&](std::span<const int> kind) { return AreAlike(kind, own); };
    if (are_alike && std::any_of(seen.begin(), seen.end(), is_own)) continue;
    if (are_alike && seen.size() < kMostKinds) seen.push_back(own);
    domains.kinds.push_back(Describe(own));
  }
  return domains;
}

Link GroupFabrics::IntraLink(const DomainRanks& ranks) const {
  const int first_node = ranks.nodes[0].node;
  const std::vector<int>& locals = ranks.nodes[0].locals;
  // The switch of several nodes gives every device its full width.
  if (ranks.count < 2 || ranks.nodes.size() > 1) return cluster_.node(first_node).intra;
  if (!cluster_.has_explicit_links()) return cluster_.wiring(first_node).GroupLink(locals);
  const int first = cluster_.first_device(first_node);
  Link slowest;
  for (size_t i = 0; i < locals.size(); ++i) {
    const size_t reach = locals.size() > kMaxAllPairs ? 2 : locals.size();
    for (size_t step = 1; step < reach; ++step) {
      const int other = locals[(i + step) % locals.size()];
      const Link link = cluster_.FindRoute(first + locals[i], first + other).narrowest;
      slowest = i == 0 && step == 1 ? link : Slower(slowest, link);
    }
  }
  return slowest;
}

Link GroupFabrics::ExplicitShare(const NodeRanks& ranks, int to_node) const {
  const int devices = cluster_.node(ranks.node).devices;
  std::vector<Route> routes;
  std::map<int, int> users;  // link -> routes over it
  for (int local = 0; local < devices; ++local) {
    const int peer = cluster_.first_device(to_node) + local % cluster_.node(to_node).devices;
    routes.push_back(cluster_.FindRoute(cluster_.first_device(ranks.node) + local, peer));
    for (const int link : routes.back().links) ++users[link];
  }
  Link total = {LinkKind::kNetwork, Duration(), Bandwidth()};
  double sum = 0;
  for (const int local : ranks.locals) {
    const Route& route = routes[local];
    double least = route.narrowest.bandwidth.bytes_per_s();
    for (const int link : route.links) {
      least = std::min(least, cluster_.link(link).bandwidth.bytes_per_s() / users[link]);
    }
    sum += least;
    total.latency = std::max(total.latency, route.narrowest.latency);
    total.network = NetworkOn(route);
  }
  total.bandwidth = Bandwidth(sum);
  return total;
}

NetworkKind GroupFabrics::NetworkOn(const Route& route) const {
  for (const int link : route.links) {
    if (cluster_.link(link).kind == LinkKind::kNetwork) return cluster_.link(link).network;
  }
  return NetworkKind::kUnstated;
}

Duration GroupFabrics::SwitchLatency(const std::vector<DomainRanks>& domains) const {
  const auto port_of = [&](const DomainRanks& domain) {
    const NodeRanks& ranks = domain.nodes[0];
    return cluster_.port(cluster_.first_device(ranks.node) + ranks.locals[0]);
  };
  Duration longest;
  for (size_t i = 0; i < domains.size(); ++i) {
    const Port from = port_of(domains[i]), to = port_of(domains[(i + 1) % domains.size()]);
    Duration latency;
    for (const int link : cluster_.switches().Path(from, to, /*flow=*/0)) {
      latency += cluster_.switches().link(link).link.latency;
    }
    longest = std::max(longest, latency);
  }
  return longest;
}

Bandwidth GroupFabrics::UplinkShare(const std::vector<DomainRanks>& domains,
                                    Traffic traffic) const {
  std::vector<Interconnect::PortRanks> group;
  int per_domain = domains[0].count;
  for (const DomainRanks& domain : domains) {
    per_domain = std::min(per_domain, domain.count);
    for (const NodeRanks& ranks : domain.nodes) {
      for (const int local : ranks.locals) {
        group.push_back({cluster_.port(cluster_.first_device(ranks.node) + local), 1});
      }
    }
  }
  return cluster_.switches().GroupShare(group, per_domain, traffic);
}

Link GroupFabrics::InterLink(const std::vector<DomainRanks>& domains, Traffic traffic) const {
  Link slowest;
  for (size_t i = 0; i < domains.size(); ++i) {
    const std::vector<NodeRanks>& nodes = domains[i].nodes;
    Link link = cluster_.node(nodes[0].node).nic;
    if (cluster_.has_explicit_links()) {
      link = ExplicitShare(nodes[0], domains[(i + 1) % domains.size()].nodes[0].node);
    } else {
      double sum = 0;
      for (const NodeRanks& ranks : nodes) {
        const int count = static_cast<int>(ranks.locals.size());
        sum += cluster_.wiring(ranks.node).SharedNics(count).bytes_per_s();
      }
      link.bandwidth = Bandwidth(sum);
    }
    slowest = i == 0 ? link : Slower(slowest, link);
  }
  if (cluster_.has_explicit_links() || IsSingleSwitch(cluster_.interconnect())) return slowest;
  slowest.bandwidth = std::min(slowest.bandwidth, UplinkShare(domains, traffic));
  slowest.latency += SwitchLatency(domains);
  return slowest;
}

bool GroupFabrics::HasNvls(const DomainRanks& ranks) const {
  return std::all_of(ranks.nodes.begin(), ranks.nodes.end(), [&](const NodeRanks& on_node) {
    return cluster_.node(on_node.node).nvls &&
           cluster_.wiring(on_node.node).SameDomain(on_node.locals);
  });
}

Fabric GroupFabrics::OfGroup(std::span<const int> devices, Traffic traffic) const {
  const Domains by_domain = ByDomain(devices);
  const std::vector<DomainRanks>& domains = by_domain.kinds;
  Fabric fabric;
  fabric.ranks = static_cast<int>(devices.size());
  fabric.nodes = by_domain.count;
  fabric.ranks_per_node = domains[0].count;
  int most = 0;
  for (const DomainRanks& ranks : domains) {
    fabric.ranks_per_node = std::min(fabric.ranks_per_node, ranks.count);
    most = std::max(most, ranks.count);
  }
  fabric.nvls = fabric.ranks > 1;
  bool first = true;
  for (const DomainRanks& ranks : domains) {
    fabric.nvls = fabric.nvls && HasNvls(ranks);
    // A lone rank sends nothing inside its node.
    if (most > 1 && ranks.count < 2) continue;
    const Link intra = IntraLink(ranks);
    fabric.intra = first ? intra : Slower(fabric.intra, intra);
    first = false;
  }
  if (fabric.nodes > 1) fabric.inter = InterLink(domains, traffic);
  if (!cluster_.slow_parts().links.empty()) TakeSlowLinks(domains, traffic, &fabric);
  return fabric;
}

Fabric GroupFabrics::OfPair(int from, int to, int concurrent) const {
  CHECK(concurrent >= 1);
  const Route route = cluster_.FindRoute(from, to);
  Fabric fabric = OfRoute(route, from, to, concurrent);
  if (!route.crosses_domains) {
    fabric.intra_rate = RateLeft(route.links, fabric.intra.bandwidth, 0);
    return fabric;
  }
  const int devices = std::min(cluster_.node(cluster_.place(from).node).devices,
                               cluster_.node(cluster_.place(to).node).devices);
  const double active = static_cast<double>(concurrent) / devices;
  fabric.inter_rate = RateLeft(route.links, fabric.inter.bandwidth, active);
  return fabric;
}

Fabric GroupFabrics::OfRoute(const Route& route, int from, int to, int concurrent) const {
  Fabric fabric;
  fabric.ranks = 2;
  fabric.ranks_per_node = 2;
  fabric.intra = route.narrowest;
  if (!route.crosses_domains) return fabric;
  fabric.nodes = 2;
  fabric.ranks_per_node = 1;
  const int start = cluster_.place(from).node;
  const int goal = cluster_.place(to).node;
  fabric.intra = Slower(cluster_.node(start).intra, cluster_.node(goal).intra);
  fabric.inter = {LinkKind::kNetwork, route.narrowest.latency, Bandwidth(), NetworkOn(route)};
  if (!cluster_.has_explicit_links()) {
    fabric.inter.bandwidth = std::min(
        {cluster_.wiring(start).MessageNics(concurrent),
         cluster_.wiring(goal).MessageNics(concurrent),
         cluster_.switches().MessageShare(cluster_.port(from), cluster_.port(to), concurrent)});
    for (const int link : route.links) {
      if (link < cluster_.first_fabric_link()) continue;
      fabric.inter.bandwidth = std::min(fabric.inter.bandwidth, cluster_.link(link).bandwidth);
    }
    return fabric;
  }
  NodeRanks all = {start, {}};
  for (int local = 0; local < cluster_.node(start).devices; ++local) all.locals.push_back(local);
  const Link node_share = ExplicitShare(all, goal);
  fabric.inter.bandwidth =
      std::min(route.narrowest.bandwidth, (1.0 / concurrent) * node_share.bandwidth);
  return fabric;
}

}  // namespace stagecraft
