// Routes and fabrics: what messages and groups see of a Cluster.
#include <algorithm>
#include <map>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/link_graph.h"

namespace stagecraft {
namespace {

// Beyond so many ranks a node, neighbours stand for all pairs.
constexpr size_t kMaxAllPairs = 16;

void Narrow(const Link& link, Route* route) {
  const bool first = !(route->narrowest.bandwidth.bytes_per_s() > 0);
  if (first || link.bandwidth < route->narrowest.bandwidth) {
    route->narrowest.kind = link.kind;
    route->narrowest.bandwidth = link.bandwidth;
  }
  route->narrowest.latency += link.latency;
}

}  // namespace

Port Cluster::PortOf(int device) const {
  const DevicePlace at = places_[device];
  return {at.node, wirings_[node_type_[at.node]].rail(at.local)};
}

Route Cluster::FindRoute(int from, int to, int flow) const {
  CHECK(from != to && from >= 0 && to >= 0 && from < device_count() && to < device_count());
  if (!has_explicit_links_) return GeneratedRoute(from, to, flow);
  Route route = FindGraphRoute(link_graph(), from, to);
  route.crosses_domains = domain_[places_[from].node] != domain_[places_[to].node];
  return route;
}

Route Cluster::GeneratedRoute(int from, int to, int flow) const {
  const DevicePlace start = places_[from];
  const DevicePlace goal = places_[to];
  Route route;
  route.crosses_domains = domain_[start.node] != domain_[goal.node];
  const auto pass = [&](int node, const std::vector<int>& cables) {
    for (const int cable : cables) {
      route.links.push_back(link_base(node) + cable);
      Narrow(wirings_[node_type_[node]].cables()[cable].link, &route);
    }
  };
  if (route.crosses_domains) {
    pass(start.node, wirings_[node_type_[start.node]].Leaving(start.local));
    const uint64_t key = Hash().Add(from).Add(to).Add(flow).value();
    for (const int link : interconnect_->Path(PortOf(from), PortOf(to), key)) {
      route.links.push_back(first_fabric_link_ + link);
      Narrow(interconnect_->link(link).link, &route);
    }
    pass(goal.node, wirings_[node_type_[goal.node]].Entering(goal.local));
  } else if (start.node != goal.node) {
    pass(start.node, {wirings_[node_type_[start.node]].ToDomainSwitch(start.local)});
    pass(goal.node, {wirings_[node_type_[goal.node]].FromDomainSwitch(goal.local)});
  } else {
    pass(start.node, wirings_[node_type_[start.node]].Inside(start.local, goal.local));
  }
  return route;
}

std::vector<Cluster::DomainRanks> Cluster::ByDomain(std::span<const int> devices) const {
  CHECK(!devices.empty());
  std::vector<int> sorted(devices.begin(), devices.end());
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted.front() >= 0 && sorted.back() < device_count());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  std::vector<DomainRanks> domains;
  int last = -1;  // node
  for (const int device : sorted) {
    const DevicePlace place = places_[device];
    if (last < 0 || domain_[last] != domain_[place.node]) domains.emplace_back();
    std::vector<NodeRanks>& nodes = domains.back().nodes;
    if (last != place.node) nodes.push_back({place.node, {}});
    nodes.back().locals.push_back(place.local);
    ++domains.back().count;
    last = place.node;
  }
  return domains;
}

Link Cluster::IntraLink(const DomainRanks& ranks) const {
  const int first_node = ranks.nodes[0].node;
  const std::vector<int>& locals = ranks.nodes[0].locals;
  // The switch of several nodes gives every device its full width.
  if (ranks.count < 2 || ranks.nodes.size() > 1) return node(first_node).intra;
  if (!has_explicit_links_) return wirings_[node_type_[first_node]].GroupLink(locals);
  const int first = first_device_[first_node];
  Link slowest;
  for (size_t i = 0; i < locals.size(); ++i) {
    const size_t reach = locals.size() > kMaxAllPairs ? 2 : locals.size();
    for (size_t step = 1; step < reach; ++step) {
      const int other = locals[(i + step) % locals.size()];
      const Link link = FindRoute(first + locals[i], first + other).narrowest;
      slowest = i == 0 && step == 1 ? link : Slower(slowest, link);
    }
  }
  return slowest;
}

Link Cluster::ExplicitShare(const NodeRanks& ranks, int to_node) const {
  const int devices = node(ranks.node).devices;
  std::vector<Route> routes;
  std::map<int, int> users;  // link -> routes over it
  for (int local = 0; local < devices; ++local) {
    const int peer = first_device_[to_node] + local % node(to_node).devices;
    routes.push_back(FindRoute(first_device_[ranks.node] + local, peer));
    for (const int link : routes.back().links) ++users[link];
  }
  Link total = {LinkKind::kNetwork, Duration(), Bandwidth()};
  double sum = 0;
  for (const int local : ranks.locals) {
    const Route& route = routes[local];
    double least = route.narrowest.bandwidth.bytes_per_s();
    for (const int link : route.links) {
      least = std::min(least, this->link(link).bandwidth.bytes_per_s() / users[link]);
    }
    sum += least;
    total.latency = std::max(total.latency, route.narrowest.latency);
  }
  total.bandwidth = Bandwidth(sum);
  return total;
}

Bandwidth Cluster::UplinkShare(const std::vector<DomainRanks>& domains, Traffic traffic) const {
  std::vector<Interconnect::PortRanks> group;
  int per_domain = domains[0].count;
  for (const DomainRanks& domain : domains) {
    per_domain = std::min(per_domain, domain.count);
    for (const NodeRanks& ranks : domain.nodes) {
      for (const int local : ranks.locals) {
        group.push_back({PortOf(first_device_[ranks.node] + local), 1});
      }
    }
  }
  return interconnect_->GroupShare(group, per_domain, traffic);
}

Link Cluster::InterLink(const std::vector<DomainRanks>& domains, Traffic traffic) const {
  Link slowest;
  for (size_t i = 0; i < domains.size(); ++i) {
    const std::vector<NodeRanks>& nodes = domains[i].nodes;
    Link link = node(nodes[0].node).nic;
    if (has_explicit_links_) {
      link = ExplicitShare(nodes[0], domains[(i + 1) % domains.size()].nodes[0].node);
    } else {
      double sum = 0;
      for (const NodeRanks& ranks : nodes) {
        const int count = static_cast<int>(ranks.locals.size());
        sum += wirings_[node_type_[ranks.node]].SharedNics(count).bytes_per_s();
      }
      link.bandwidth = Bandwidth(sum);
    }
    slowest = i == 0 ? link : Slower(slowest, link);
  }
  if (has_explicit_links_ || IsSingleSwitch(interconnect())) return slowest;
  slowest.bandwidth = std::min(slowest.bandwidth, UplinkShare(domains, traffic));
  return slowest;
}

bool Cluster::HasNvls(const DomainRanks& ranks) const {
  return std::all_of(ranks.nodes.begin(), ranks.nodes.end(), [&](const NodeRanks& on_node) {
    return node(on_node.node).nvls && wirings_[node_type_[on_node.node]].SameDomain(on_node.locals);
  });
}

Fabric Cluster::DescribeGroup(std::span<const int> devices, Traffic traffic) const {
  const std::vector<DomainRanks> domains = ByDomain(devices);
  Fabric fabric;
  fabric.ranks = static_cast<int>(devices.size());
  fabric.nodes = static_cast<int>(domains.size());
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
  return fabric;
}

int64_t Cluster::PairClass(int from, int to) const {
  const int64_t devices = device_count();
  if (has_explicit_links_ || !IsSingleSwitch(interconnect_->spec())) return from * devices + to;
  // Where in its node either end is, of which kind that is, and what lies between.
  const DevicePlace start = places_[from];
  const DevicePlace goal = places_[to];
  const int64_t first = first_device(first_node_[device_group(from)]) + start.local;
  const int64_t last = first_device(first_node_[device_group(to)]) + goal.local;
  const bool crosses = domain_[start.node] != domain_[goal.node];
  const int64_t between = crosses ? 0 : start.node != goal.node ? 1 : 2;
  return (between * devices + first) * devices + last;
}

Fabric Cluster::DescribePair(int from, int to, int concurrent) const {
  CHECK(concurrent >= 1);
  const Route route = FindRoute(from, to);
  Fabric fabric;
  fabric.ranks = 2;
  fabric.ranks_per_node = 2;
  fabric.intra = route.narrowest;
  if (!route.crosses_domains) return fabric;
  fabric.nodes = 2;
  fabric.ranks_per_node = 1;
  const int start = places_[from].node;
  const int goal = places_[to].node;
  fabric.intra = Slower(node(start).intra, node(goal).intra);
  fabric.inter = {LinkKind::kNetwork, route.narrowest.latency, Bandwidth()};
  if (!has_explicit_links_) {
    fabric.inter.bandwidth =
        std::min({wirings_[node_type_[start]].MessageNics(concurrent),
                  wirings_[node_type_[goal]].MessageNics(concurrent),
                  interconnect_->MessageShare(PortOf(from), PortOf(to), concurrent)});
    for (const int link : route.links) {
      if (link < first_fabric_link_) continue;
      fabric.inter.bandwidth = std::min(fabric.inter.bandwidth, this->link(link).bandwidth);
    }
    return fabric;
  }
  NodeRanks all = {start, {}};
  for (int local = 0; local < node(start).devices; ++local) all.locals.push_back(local);
  const Link node_share = ExplicitShare(all, goal);
  fabric.inter.bandwidth =
      std::min(route.narrowest.bandwidth, (1.0 / concurrent) * node_share.bandwidth);
  return fabric;
}

}  // namespace stagecraft
