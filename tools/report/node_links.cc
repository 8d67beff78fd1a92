#include "tools/report/node_links.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/link_graph.h"

namespace stagecraft {
namespace {

struct NamedLink {
  std::string from, to;
  Link link;
};

std::string Rate(const Link& link, const Cluster& cluster) {
  return fmt::format("{:.4g} GB/s {}", link.bandwidth.bytes_per_s() * 1e-9,
                     LinkName(link.kind, cluster.device(0)));
}

std::string WithoutNode(const std::string& name) {
  constexpr char kPrefix[] = "node0/";
  return name.starts_with(kPrefix) ? name.substr(sizeof(kPrefix) - 1) : name;
}

std::vector<NamedLink> LinksOfFirstNode(const Cluster& cluster) {
  std::vector<NamedLink> links;
  const LinkGraph& graph = cluster.link_graph();
  for (int i = 0; i < cluster.link_count(); ++i) {
    const std::string name = cluster.LinkName(i);
    const size_t arrow = name.find(" -> ");
    const std::string from = name.substr(0, arrow);
    if (!from.starts_with("node0/") && !cluster.has_explicit_links()) continue;
    links.push_back({WithoutNode(from), WithoutNode(name.substr(arrow + 4)), cluster.link(i)});
  }
  // The links are listed in the order of the graph's endpoints.
  std::vector<std::string> order;
  const auto [begin, end] = vertices(graph);
  for (auto vertex = begin; vertex != end; ++vertex) {
    order.push_back(WithoutNode(graph[*vertex].name));
  }
  const auto rank = [&](const NamedLink& link) {
    return std::find(order.begin(), order.end(), link.from) - order.begin();
  };
  std::stable_sort(links.begin(), links.end(),
                   [&](const NamedLink& a, const NamedLink& b) { return rank(a) < rank(b); });
  return links;
}

// The name without the number at its end: "gpu" for "gpu3" and for "gpu4", which are of one kind.
std::string Stem(const std::string& name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

}  // namespace

std::string DescribeNodeLinks(const Cluster& cluster) {
  const std::vector<NamedLink> links = LinksOfFirstNode(cluster);
  size_t from_width = 0;
  for (const NamedLink& link : links) from_width = std::max(from_width, link.from.size());
  std::string text;
  for (size_t i = 0; i < links.size();) {
    size_t last = i;
    while (last + 1 < links.size() && links[last + 1].from == links[i].from &&
           links[last + 1].link == links[i].link && Stem(links[last + 1].to) == Stem(links[i].to)) {
      ++last;
    }
    const bool is_first = i == 0 || links[i - 1].from != links[i].from;
    std::string to = links[i].to;
    for (size_t next = i + 1; next <= last; ++next) {
      to += " " + links[next].to.substr(Stem(links[next].to).size());
    }
    text += fmt::format("{:<{}} -> {:<20} {} {} ns\n", is_first ? links[i].from : "", from_width,
                        to, Rate(links[i].link, cluster), links[i].link.latency.ns());
    i = last + 1;
  }
  return text;
}

std::string DescribeRoute(const Cluster& cluster, const Route& route) {
  size_t width = 0;
  for (const int link : route.links) width = std::max(width, cluster.LinkName(link).size());
  std::string text;
  for (const int link : route.links) {
    const bool is_narrowest = cluster.link(link).bandwidth == route.narrowest.bandwidth;
    text += fmt::format("{:<{}}  {}{}\n", cluster.LinkName(link), width,
                        Rate(cluster.link(link), cluster), is_narrowest ? "  bottleneck" : "");
  }
  return text;
}

}  // namespace stagecraft
