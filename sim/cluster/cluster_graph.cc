// The links of a Cluster: as a graph, by index, by name.
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "costmodel/check.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/link_graph.h"

namespace stagecraft {

struct Cluster::LazyGraph {
  std::once_flag once;
  LinkGraph graph;
  std::vector<LinkGraph::edge_descriptor> by_index;  // explicit links only
};

namespace {

std::string NodeName(int node) { return "node" + std::to_string(node); }

std::string DomainSwitchName(int domain) { return "domain" + std::to_string(domain) + "/nvswitch"; }

int AddEndpoint(Endpoint endpoint, LinkGraph* graph) {
  const auto vertex = add_vertex(*graph);
  (*graph)[vertex] = std::move(endpoint);
  return static_cast<int>(vertex);
}

// Returns which vertices can be reached from vertex 0 along `neighbours`.
std::vector<bool> ReachedFromFirst(const std::vector<std::vector<int>>& neighbours) {
  std::vector<bool> reached(neighbours.size());
  std::vector<int> queue = {0};
  reached[0] = true;
  for (size_t next = 0; next < queue.size(); ++next) {
    for (const int to : neighbours[queue[next]]) {
      if (reached[to]) continue;
      reached[to] = true;
      queue.push_back(to);
    }
  }
  return reached;
}

// Names of the form "node7/gpu3" mean a device and never become a switch.
bool LooksLikeDevice(const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos || !name.starts_with("node")) return false;
  const auto digits = [&](size_t begin, size_t end) {
    return begin < end && std::all_of(name.begin() + static_cast<ptrdiff_t>(begin),
                                      name.begin() + static_cast<ptrdiff_t>(end),
                                      [](char c) { return c >= '0' && c <= '9'; });
  };
  return digits(4, slash) && name.compare(slash + 1, 3, "gpu") == 0 &&
         digits(slash + 4, name.size());
}

}  // namespace

std::shared_ptr<Cluster::LazyGraph> Cluster::NewGraph() { return std::make_shared<LazyGraph>(); }

std::string Cluster::DeviceName(int device) const {
  return NodeName(places_[device].node) + "/gpu" + std::to_string(places_[device].local);
}

const LinkGraph& Cluster::link_graph() const {
  std::call_once(graph_->once, [this] {
    if (!has_explicit_links_) BuildGenerated(&graph_->graph);
  });
  return graph_->graph;
}

size_t Cluster::GroupOfLink(int index) const {
  const auto after = std::upper_bound(first_link_.begin(), first_link_.end(), index);
  return static_cast<size_t>(after - first_link_.begin()) - 1;
}

Link Cluster::link(int index) const {
  CHECK(index >= 0 && index < link_count_);
  if (has_explicit_links_) return graph_->graph[graph_->by_index[index]];
  if (index >= first_fabric_link_) return interconnect_->link(index - first_fabric_link_).link;
  const size_t group = GroupOfLink(index);
  const std::vector<NodeWiring::Cable>& cables = wirings_[group].cables();
  return cables[static_cast<size_t>(index - first_link_[group]) % cables.size()].link;
}

std::string Cluster::LinkName(int index) const {
  CHECK(index >= 0 && index < link_count_);
  const auto joined = [](const std::string& from, const std::string& to) {
    return from + " -> " + to;
  };
  if (has_explicit_links_) {
    const LinkGraph& graph = graph_->graph;
    const LinkGraph::edge_descriptor edge = graph_->by_index[index];
    return joined(graph[source(edge, graph)].name, graph[target(edge, graph)].name);
  }
  if (index >= first_fabric_link_) {
    const SwitchedFabric::Cable cable = interconnect_->link(index - first_fabric_link_);
    return joined(interconnect_->SwitchName(cable.from), interconnect_->SwitchName(cable.to));
  }
  const size_t group = GroupOfLink(index);
  const NodeWiring& wiring = wirings_[group];
  const int cables = static_cast<int>(wiring.cables().size());
  const int node = first_node_[group] + (index - first_link_[group]) / cables;
  const NodeWiring::Cable& cable = wiring.cables()[(index - first_link_[group]) % cables];
  const auto end = [&](int endpoint) {
    if (endpoint == NodeWiring::kDomainSwitch) return DomainSwitchName(domain_[node]);
    if (endpoint != NodeWiring::kFabric) {
      return NodeName(node) + "/" + wiring.endpoints()[endpoint].name;
    }
    return interconnect_->SwitchName(interconnect_->SwitchOf({node, cable.rail}));
  };
  return joined(end(cable.from), end(cable.to));
}

double Cluster::Senders(int link) const {
  if (has_explicit_links_) {
    int most = 0;
    for (const NodeGroup& group : groups_) most = std::max(most, group.type.devices);
    return most;
  }
  if (link >= first_fabric_link_) return interconnect_->Senders(link - first_fabric_link_);
  const size_t group = GroupOfLink(link);
  const NodeWiring& wiring = wirings_[group];
  if (groups_[group].type.nics == 0) return 0;
  const int cable = (link - first_link_[group]) % static_cast<int>(wiring.cables().size());
  int senders = 0;
  for (int device = 0; device < groups_[group].type.devices; ++device) {
    std::vector<int> route = wiring.Leaving(device);
    const std::vector<int> back = wiring.Entering(device);
    route.insert(route.end(), back.begin(), back.end());
    senders += std::count(route.begin(), route.end(), cable) > 0 ? 1 : 0;
  }
  return senders;
}

int Cluster::link_base(int node) const {
  const int group = node_type_[node];
  return first_link_[group] +
         (node - first_node_[group]) * static_cast<int>(wirings_[group].cables().size());
}

void Cluster::BuildGenerated(LinkGraph* graph) const {
  size_t vertices = static_cast<size_t>(interconnect_->switch_count());
  for (int node = 0; node < node_count(); ++node) {
    vertices += wirings_[node_type_[node]].endpoints().size();
  }
  *graph = LinkGraph(vertices);
  const int first_switch =
      static_cast<int>(vertices) - static_cast<int>(interconnect_->switch_count());
  for (int i = 0; i < interconnect_->switch_count(); ++i) {
    (*graph)[first_switch + i].name = interconnect_->SwitchName(i);
  }
  std::map<int, int> switches;  // domain of several nodes -> vertex
  int base = 0;
  int index = 0;
  for (int node = 0; node < node_count(); ++node) {
    const NodeWiring& wiring = wirings_[node_type_[node]];
    const std::string prefix = NodeName(node) + "/";
    int vertex = base;
    for (const NodeWiring::Endpoint& endpoint : wiring.endpoints()) {
      const int device = endpoint.device < 0 ? -1 : first_device_[node] + endpoint.device;
      (*graph)[vertex++] = {prefix + endpoint.name, device};
    }
    for (const NodeWiring::Cable& cable : wiring.cables()) {
      const auto end = [&](int endpoint) {
        if (endpoint == NodeWiring::kFabric) {
          return first_switch + interconnect_->SwitchOf({node, cable.rail});
        }
        if (endpoint != NodeWiring::kDomainSwitch) return base + endpoint;
        const auto known = switches.find(domain_[node]);
        if (known != switches.end()) return known->second;
        return switches[domain_[node]] = AddEndpoint({DomainSwitchName(domain_[node]), -1}, graph);
      };
      const int from = end(cable.from);
      const int to = end(cable.to);
      add_edge(from, to, ClusterLink{cable.link, index++}, *graph);
    }
    base = vertex;
  }
  for (int i = 0; i < interconnect_->link_count(); ++i) {
    const SwitchedFabric::Cable cable = interconnect_->link(i);
    add_edge(first_switch + cable.from, first_switch + cable.to, ClusterLink{cable.link, index++},
             *graph);
  }
}

// Vertex i is device i; the switches follow in the order in which they are first named.
void Cluster::BuildExplicit(const std::vector<ExplicitLink>& links, const std::string& place) {
  LinkGraph& graph = graph_->graph;
  std::map<std::string, int> vertices;
  for (int device = 0; device < device_count(); ++device) {
    const std::string name = DeviceName(device);
    vertices[name] = AddEndpoint({name, device}, &graph);
  }
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string key = place + ": links[" + std::to_string(i) + "].";
    const auto vertex = [&](const std::string& name, const char* field) {
      const auto found = vertices.find(name);
      if (found != vertices.end()) return found->second;
      if (name.empty() || LooksLikeDevice(name)) {
        throw InputError(key + field + ": got \"" + name +
                         "\", want a device of the cluster or the name of a switch");
      }
      return vertices[name] = AddEndpoint({name, -1}, &graph);
    };
    const int from = vertex(links[i].from, "from");
    const int to = vertex(links[i].to, "to");
    if (from == to) throw InputError(key + "to: got the same as from, want another endpoint");
    if (!(links[i].link.bandwidth.bytes_per_s() > 0)) {
      throw InputError(key + "link.bandwidth_bytes_per_s: got 0 or less, want > 0");
    }
    add_edge(from, to, ClusterLink{links[i].link, static_cast<int>(i)}, graph);
  }
  link_count_ = static_cast<int>(links.size());
  graph_->by_index.resize(links.size());
  const auto [begin, end] = edges(graph);
  for (auto edge = begin; edge != end; ++edge) graph_->by_index[graph[*edge].index] = *edge;
  CheckReachable(graph, place);
}

void Cluster::CheckReachable(const LinkGraph& graph, const std::string& place) const {
  std::vector<std::vector<int>> forward(num_vertices(graph));
  std::vector<std::vector<int>> backward(num_vertices(graph));
  const auto [begin, end] = edges(graph);
  for (auto edge = begin; edge != end; ++edge) {
    const int from = static_cast<int>(source(*edge, graph));
    const int to = static_cast<int>(target(*edge, graph));
    forward[from].push_back(to);
    backward[to].push_back(from);
  }
  const std::vector<bool> reached = ReachedFromFirst(forward);
  const std::vector<bool> reaching = ReachedFromFirst(backward);
  for (int device = 0; device < device_count(); ++device) {
    if (reached[device] && reaching[device]) continue;
    const std::string first = DeviceName(0);
    const std::string other = DeviceName(device);
    throw InputError(place + ": links: no links lead from " + (reached[device] ? other : first) +
                     " to " + (reached[device] ? first : other) +
                     ", want a way between any two devices");
  }
}

}  // namespace stagecraft
