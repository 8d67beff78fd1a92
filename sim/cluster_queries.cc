// Routes and fabrics: what messages and groups see of a Cluster.
#include <algorithm>
#include <map>

#include "costmodel/check.h"
#include "sim/cluster.h"

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

Route Cluster::FindRoute(int from, int to) const {
  CHECK(from != to && from >= 0 && to >= 0 && from < device_count() && to < device_count());
  if (!has_explicit_links_) return GeneratedRoute(from, to);
  Route route = FindGraphRoute(link_graph(), from, to);
  route.crosses_nodes = places_[from].node != places_[to].node;
  return route;
}

Route Cluster::GeneratedRoute(int from, int to) const {
  const DevicePlace start = places_[from];
  const DevicePlace goal = places_[to];
  Route route;
  route.crosses_nodes = start.node != goal.node;
  const auto pass = [&](int node, const std::vector<int>& cables) {
    for (const int cable : cables) {
      route.links.push_back(link_base(node) + cable);
      Narrow(wirings_[node_type_[node]].cables()[cable].link, &route);
    }
  };
  if (route.crosses_nodes) {
    pass(start.node, wirings_[node_type_[start.node]].Leaving(start.local));
    pass(goal.node, wirings_[node_type_[goal.node]].Entering(goal.local));
  } else {
    pass(start.node, wirings_[node_type_[start.node]].Inside(start.local, goal.local));
  }
  return route;
}

std::vector<Cluster::NodeRanks> Cluster::ByNode(std::span<const int> devices) const {
  CHECK(!devices.empty());
  std::vector<int> sorted(devices.begin(), devices.end());
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted.front() >= 0 && sorted.back() < device_count());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  std::vector<NodeRanks> nodes;
  for (const int device : sorted) {
    const DevicePlace place = places_[device];
    if (nodes.empty() || nodes.back().node != place.node) nodes.push_back({place.node, {}});
    nodes.back().locals.push_back(place.local);
  }
  return nodes;
}

Link Cluster::IntraLink(const NodeRanks& ranks) const {
  const std::vector<int>& locals = ranks.locals;
  if (locals.size() < 2) return node(ranks.node).intra;
  if (!has_explicit_links_) return wirings_[node_type_[ranks.node]].GroupLink(locals);
  const int first = first_device_[ranks.node];
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
  std::map<int, Bandwidth> width;
  const auto [begin, end] = edges(link_graph());
  for (auto edge = begin; edge != end; ++edge) {
    const ClusterLink& link = link_graph()[*edge];
    if (users.contains(link.index)) width[link.index] = link.bandwidth;
  }
  Link total = {LinkKind::kNetwork, Duration(), Bandwidth()};
  double sum = 0;
  for (const int local : ranks.locals) {
    const Route& route = routes[local];
    double least = route.narrowest.bandwidth.bytes_per_s();
    for (const int link : route.links) {
      least = std::min(least, width[link].bytes_per_s() / users[link]);
    }
    sum += least;
    total.latency = std::max(total.latency, route.narrowest.latency);
  }
  total.bandwidth = Bandwidth(sum);
  return total;
}

Link Cluster::InterLink(const std::vector<NodeRanks>& nodes) const {
  Link slowest;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Link link;
    if (has_explicit_links_) {
      link = ExplicitShare(nodes[i], nodes[(i + 1) % nodes.size()].node);
    } else {
      link = node(nodes[i].node).nic;
      link.bandwidth =
          wirings_[node_type_[nodes[i].node]].SharedNics(static_cast<int>(nodes[i].locals.size()));
    }
    slowest = i == 0 ? link : Slower(slowest, link);
  }
  return slowest;
}

Fabric Cluster::DescribeGroup(std::span<const int> devices) const {
  const std::vector<NodeRanks> nodes = ByNode(devices);
  Fabric fabric;
  fabric.ranks = static_cast<int>(devices.size());
  fabric.nodes = static_cast<int>(nodes.size());
  fabric.ranks_per_node = static_cast<int>(nodes[0].locals.size());
  size_t most = 0;
  for (const NodeRanks& ranks : nodes) {
    fabric.ranks_per_node = std::min(fabric.ranks_per_node, static_cast<int>(ranks.locals.size()));
    most = std::max(most, ranks.locals.size());
  }
  fabric.nvls = fabric.ranks > 1;
  bool first = true;
  for (const NodeRanks& ranks : nodes) {
    const NodeType& type = node(ranks.node);
    fabric.nvls =
        fabric.nvls && type.nvls && wirings_[node_type_[ranks.node]].SameDomain(ranks.locals);
    // A lone rank sends nothing inside its node.
    if (most > 1 && ranks.locals.size() < 2) continue;
    const Link intra = IntraLink(ranks);
    fabric.intra = first ? intra : Slower(fabric.intra, intra);
    first = false;
  }
  if (fabric.nodes > 1) fabric.inter = InterLink(nodes);
  return fabric;
}

Fabric Cluster::DescribePair(int from, int to, int concurrent) const {
  CHECK(concurrent >= 1);
  const Route route = FindRoute(from, to);
  Fabric fabric;
  fabric.ranks = 2;
  fabric.ranks_per_node = 2;
  fabric.intra = route.narrowest;
  if (!route.crosses_nodes) return fabric;
  fabric.nodes = 2;
  fabric.ranks_per_node = 1;
  const int start = places_[from].node;
  const int goal = places_[to].node;
  fabric.intra = Slower(node(start).intra, node(goal).intra);
  fabric.inter = {LinkKind::kNetwork, route.narrowest.latency, Bandwidth()};
  if (!has_explicit_links_) {
    fabric.inter.bandwidth = std::min(wirings_[node_type_[start]].MessageNics(concurrent),
                                      wirings_[node_type_[goal]].MessageNics(concurrent));
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
