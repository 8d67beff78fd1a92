#include "sim/cluster/link_graph.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace stagecraft {
namespace {

using Edge = LinkGraph::edge_descriptor;

// How a vertex was reached: over which link, in how many hops, with which bandwidth.
struct Reached {
  Edge edge;
  int hops = -1;
  Bandwidth width;
};

// Searches breadth first. All vertices of a hop count are reached before the next begins, so
// bandwidths are final when they are passed on; the first among equals stays.
std::vector<Reached> Spread(const LinkGraph& graph, int from, bool devices_forward) {
  std::vector<Reached> reached(num_vertices(graph));
  std::vector<int> queue = {from};
  reached[from].hops = 0;
  reached[from].width = Bandwidth(std::numeric_limits<double>::infinity());
  for (size_t next = 0; next < queue.size(); ++next) {
    const int at = queue[next];
    if (at != from && graph[at].device >= 0 && !devices_forward) continue;
    const auto [begin, end] = out_edges(at, graph);
    for (auto edge = begin; edge != end; ++edge) {
      const int to = static_cast<int>(target(*edge, graph));
      Reached& there = reached[to];
      const Bandwidth width = std::min(reached[at].width, graph[*edge].bandwidth);
      if (there.hops < 0) queue.push_back(to);
      const bool better =
          there.hops < 0 || (there.hops == reached[at].hops + 1 && width > there.width);
      if (better) there = {*edge, reached[at].hops + 1, width};
    }
  }
  return reached;
}

}  // namespace

Route FindGraphRoute(const LinkGraph& graph, int from, int to) {
  std::vector<Reached> reached = Spread(graph, from, /*devices_forward=*/false);
  if (reached[to].hops < 0) reached = Spread(graph, from, /*devices_forward=*/true);
  Route route;
  if (reached[to].hops <= 0) return route;
  for (int at = to; at != from; at = static_cast<int>(source(reached[at].edge, graph))) {
    const ClusterLink& link = graph[reached[at].edge];
    if (at == to || link.bandwidth < route.narrowest.bandwidth) {
      route.narrowest.kind = link.kind;
      route.narrowest.bandwidth = link.bandwidth;
      route.narrowest.network = link.network;
    }
    route.narrowest.latency += link.latency;
    route.links.push_back(link.index);
  }
  std::reverse(route.links.begin(), route.links.end());
  return route;
}

}  // namespace stagecraft
