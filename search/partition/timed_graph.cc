#include "search/partition/timed_graph.h"

#include <algorithm>
#include <utility>

namespace stagecraft {
namespace {

constexpr std::string_view kUnpacking = "__getitem__";

std::vector<std::string> Names(const std::vector<TimedNode>& nodes) {
  std::vector<std::string> names;
  for (const TimedNode& node : nodes) names.push_back(node.name);
  return names;
}

TimedGraph Build(std::string name, std::vector<TimedNode> nodes,
                 const std::vector<DagEdge>& edges) {
  const std::vector<std::string> names = Names(nodes);
  Dag dag = MakeDag(names, edges, name);
  RequireOneComponent(names, edges, name);
  return {std::move(name), std::move(nodes), std::move(dag)};
}

// Returns whether the node is part of a chain: fed by one node, and feeding at most one.
bool IsLink(const Dag& dag, int node) {
  return dag.producers[node].size() == 1 && dag.consumers[node].size() <= 1;
}

}  // namespace

TimedGraph ToTimedGraph(const ProfiledGraph& profile, const std::string& name) {
  std::vector<bool> feeds(profile.nodes.size());
  std::vector<bool> is_fed(profile.nodes.size());
  for (const ProfiledEdge& edge : profile.edges) {
    feeds[edge.from] = true;
    is_fed[edge.to] = true;
  }
  std::vector<TimedNode> nodes;
  std::vector<int> place(profile.nodes.size(), -1);
  for (size_t n = 0; n < profile.nodes.size(); ++n) {
    const ProfiledNode& node = profile.nodes[n];
    if (node.is_input() && !is_fed[n]) continue;
    if (node.description.starts_with(kUnpacking) && !feeds[n]) continue;
    place[n] = static_cast<int>(nodes.size());
    nodes.push_back({node.id, node.forward, node.backward, node.activation, node.parameters});
  }
  std::vector<DagEdge> edges;
  for (const ProfiledEdge& edge : profile.edges) {
    if (place[edge.from] < 0 || place[edge.to] < 0) continue;
    edges.push_back({place[edge.from], place[edge.to]});
  }
  return Build(name, std::move(nodes), edges);
}

CompressedGraph CompressBranches(const TimedGraph& graph) {
  const Dag& dag = graph.dag;
  std::vector<int> group_of(dag.size(), -1);
  CompressedGraph compressed;
  std::vector<TimedNode> nodes;
  std::vector<bool> hangs_off_fork(dag.size());
  for (const int node : dag.order) {
    const bool is_link = IsLink(dag, node);
    const bool continues = is_link && hangs_off_fork[dag.producers[node][0]];
    hangs_off_fork[node] =
        is_link && (continues || dag.consumers[dag.producers[node][0]].size() > 1);
    group_of[node] = continues ? group_of[dag.producers[node][0]] : static_cast<int>(nodes.size());
    if (!continues) {
      nodes.push_back(graph.nodes[node]);
      compressed.groups.push_back({node});
      continue;
    }
    TimedNode& sum = nodes[group_of[node]];
    sum.forward += graph.nodes[node].forward;
    sum.backward += graph.nodes[node].backward;
    sum.parameters += graph.nodes[node].parameters;
    sum.activation = graph.nodes[node].activation;
    compressed.groups[group_of[node]].push_back(node);
  }
  std::vector<DagEdge> edges;
  for (int node = 0; node < dag.size(); ++node) {
    for (const int consumer : dag.consumers[node]) {
      if (group_of[node] != group_of[consumer])
        edges.push_back({group_of[node], group_of[consumer]});
    }
  }
  compressed.graph = Build(graph.name, std::move(nodes), edges);
  return compressed;
}

}  // namespace stagecraft
