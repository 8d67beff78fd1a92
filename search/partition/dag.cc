#include "search/partition/dag.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "costmodel/check.h"
#include "search/partition/node_set.h"

namespace stagecraft {
namespace {

// Returns a topological order by Kahn's method. It lacks nodes if the graph has a cycle.
std::vector<int> TopologicalOrder(const Dag& dag) {
  std::vector<size_t> missing;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (const std::vector<int>& producers : dag.producers) {
    if (producers.empty()) ready.push(static_cast<int>(missing.size()));
    missing.push_back(producers.size());
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const int consumer : dag.consumers[node]) {
      if (--missing[consumer] == 0) ready.push(consumer);
    }
  }
  return order;
}

// Returns a node of a cycle, which is reached by going back from any node that the order lacks.
int NodeOnCycle(const Dag& dag) {
  std::vector<bool> is_placed(dag.producers.size());
  for (const int node : dag.order) is_placed[node] = true;
  std::vector<bool> is_seen(is_placed.size());
  int node =
      static_cast<int>(std::find(is_placed.begin(), is_placed.end(), false) - is_placed.begin());
  while (!is_seen[node]) {
    is_seen[node] = true;
    node = *std::find_if(dag.producers[node].begin(), dag.producers[node].end(),
                         [&](int producer) { return !is_placed[producer]; });
  }
  return node;
}

void SortAndUnite(std::vector<int>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

Dag MakeDag(std::span<const std::string> names, std::span<const DagEdge> edges,
            const std::string& graph_name) {
  if (names.empty()) throw InputError(graph_name + ": has no nodes, want at least one");
  Dag dag;
  dag.consumers.resize(names.size());
  dag.producers.resize(names.size());
  for (const DagEdge& edge : edges) {
    if (edge.from == edge.to) {
      throw InputError(fmt::format("{}: node {} feeds itself, want a graph without cycles",
                                   graph_name, names[edge.from]));
    }
    dag.consumers[edge.from].push_back(edge.to);
    dag.producers[edge.to].push_back(edge.from);
  }
  for (std::vector<int>& nodes : dag.consumers) SortAndUnite(nodes);
  for (std::vector<int>& nodes : dag.producers) SortAndUnite(nodes);
  dag.order = TopologicalOrder(dag);
  if (dag.order.size() < names.size()) {
    throw InputError(fmt::format("{}: node {} is on a cycle, want a graph without", graph_name,
                                 names[NodeOnCycle(dag)]));
  }
  return dag;
}

void RequireOneComponent(std::span<const std::string> names, std::span<const DagEdge> edges,
                         const std::string& graph_name) {
  std::vector<std::vector<int>> neighbours(names.size());
  for (const DagEdge& edge : edges) {
    neighbours[edge.from].push_back(edge.to);
    neighbours[edge.to].push_back(edge.from);
  }
  std::vector<bool> is_reached(names.size());
  std::vector<int> frontier = {0};
  is_reached[0] = true;
  while (!frontier.empty()) {
    const int node = frontier.back();
    frontier.pop_back();
    for (const int neighbour : neighbours[node]) {
      if (is_reached[neighbour]) continue;
      is_reached[neighbour] = true;
      frontier.push_back(neighbour);
    }
  }
  const auto apart = std::find(is_reached.begin(), is_reached.end(), false);
  if (apart == is_reached.end()) return;
  throw InputError(
      fmt::format("{}: nodes {} and {} are in different components, want a graph of one component",
                  graph_name, names[0], names[apart - is_reached.begin()]));
}

std::vector<NodeSet> Ancestors(const Dag& dag) {
  std::vector<NodeSet> ancestors(dag.size(), NodeSet(dag.size()));
  for (const int node : dag.order) {
    for (const int producer : dag.producers[node]) {
      ancestors[node] |= ancestors[producer];
      ancestors[node].set(producer);
    }
  }
  return ancestors;
}

std::vector<NodeSet> Descendants(const Dag& dag) {
  std::vector<NodeSet> descendants(dag.size(), NodeSet(dag.size()));
  for (auto node = dag.order.rbegin(); node != dag.order.rend(); ++node) {
    for (const int consumer : dag.consumers[*node]) {
      descendants[*node] |= descendants[consumer];
      descendants[*node].set(consumer);
    }
  }
  return descendants;
}

std::vector<int> Members(const NodeSet& set) {
  std::vector<int> members;
  for (size_t node = set.find_first(); node != NodeSet::npos; node = set.find_next(node)) {
    members.push_back(static_cast<int>(node));
  }
  return members;
}

}  // namespace stagecraft
