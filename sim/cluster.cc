#include "sim/cluster.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

struct Cluster::LazyGraph {
  std::once_flag once;
  LinkGraph graph;
};

namespace {

constexpr char kFabricName[] = "fabric";

std::string NodeName(int node) { return "node" + std::to_string(node); }

int AddEndpoint(Endpoint endpoint, LinkGraph* graph) {
  const auto vertex = add_vertex(*graph);
  (*graph)[vertex] = std::move(endpoint);
  return static_cast<int>(vertex);
}

// Vertices that can be reached from vertex 0 along `neighbours`.
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

Cluster::Cluster(std::string name, std::vector<NodeGroup> groups, std::vector<ExplicitLink> links,
                 const std::string& place)
    : name_(std::move(name)),
      groups_(std::move(groups)),
      has_explicit_links_(!links.empty()),
      graph_(std::make_shared<LazyGraph>()) {
  const std::string opening = place.empty() ? name_ : place;
  CheckGroups(opening);
  AddNodes();
  if (has_explicit_links_) BuildExplicit(links, opening);
}

void Cluster::CheckGroups(const std::string& place) const {
  int64_t devices = 0;
  int64_t nodes = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const std::string key = place + ": node_groups[" + std::to_string(i) + "].";
    const std::vector<std::string> errors = FindErrors(groups_[i].type);
    if (!errors.empty()) throw InputError(key + "type." + errors[0]);
    if (groups_[i].count < 1 || groups_[i].count > kMaxDevices) {
      throw InputError(key + "count: got " + std::to_string(groups_[i].count) +
                       ", want from 1 to " + std::to_string(kMaxDevices));
    }
    nodes += groups_[i].count;
    devices += int64_t{groups_[i].count} * groups_[i].type.devices;
    if (devices > kMaxDevices) {
      throw InputError(key + "count: got " + std::to_string(devices) + " devices in all, want " +
                       std::to_string(kMaxDevices) + " at most");
    }
  }
  if (nodes == 0) throw InputError(place + ": node_groups: got none, want at least one node");
  for (size_t i = 0; i < groups_.size() && nodes > 1 && !has_explicit_links_; ++i) {
    if (groups_[i].type.nics > 0) continue;
    throw InputError(place + ": node_groups[" + std::to_string(i) + "].type.nics: got 0 for " +
                     groups_[i].type.id + ", want > 0 in a cluster of " + std::to_string(nodes) +
                     " nodes");
  }
}

void Cluster::AddNodes() {
  int links = 0;
  for (size_t group = 0; group < groups_.size(); ++group) {
    wirings_.emplace_back(groups_[group].type);
    first_node_.push_back(node_count());
    first_link_.push_back(links);
    links += groups_[group].count * static_cast<int>(wirings_[group].cables().size());
    const int domain_nodes = has_explicit_links_ ? 1 : groups_[group].type.domain_nodes;
    for (int i = 0; i < groups_[group].count; ++i) {
      const int node = node_count();
      const bool opens_domain = i % domain_nodes == 0;
      domain_.push_back(node == 0 ? 0 : domain_.back() + (opens_domain ? 1 : 0));
      first_device_.push_back(device_count());
      node_type_.push_back(static_cast<int>(group));
      for (int local = 0; local < groups_[group].type.devices; ++local) {
        places_.push_back({node, local});
      }
    }
  }
}

std::string Cluster::DeviceName(int device) const {
  return NodeName(places_[device].node) + "/gpu" + std::to_string(places_[device].local);
}

bool Cluster::homogeneous() const {
  return std::all_of(groups_.begin(), groups_.end(),
                     [&](const NodeGroup& group) { return group.type == groups_[0].type; });
}

const LinkGraph& Cluster::link_graph() const {
  std::call_once(graph_->once, [this] {
    if (!has_explicit_links_) BuildGenerated(&graph_->graph);
  });
  return graph_->graph;
}

int Cluster::link_base(int node) const {
  const int group = node_type_[node];
  return first_link_[group] +
         (node - first_node_[group]) * static_cast<int>(wirings_[group].cables().size());
}

void Cluster::BuildGenerated(LinkGraph* graph) const {
  size_t vertices = 1;
  for (int node = 0; node < node_count(); ++node) {
    vertices += wirings_[node_type_[node]].endpoints().size();
  }
  *graph = LinkGraph(vertices);
  const int fabric = static_cast<int>(vertices) - 1;
  (*graph)[fabric].name = kFabricName;
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
        if (endpoint == NodeWiring::kFabric) return fabric;
        if (endpoint != NodeWiring::kDomainSwitch) return base + endpoint;
        const auto known = switches.find(domain_[node]);
        if (known != switches.end()) return known->second;
        const std::string name = "domain" + std::to_string(domain_[node]) + "/nvswitch";
        return switches[domain_[node]] = AddEndpoint({name, -1}, graph);
      };
      const int from = end(cable.from);
      const int to = end(cable.to);
      add_edge(from, to, ClusterLink{cable.link, index++}, *graph);
    }
    base = vertex;
  }
}

// Vertex i is device i; the switches follow as they are named.
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
