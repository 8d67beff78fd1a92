// Dag: which operators feed which. All partitioners of operators use it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stagecraft {

struct DagEdge {
  int from = 0;
  int to = 0;
  friend auto operator<=>(const DagEdge&, const DagEdge&) = default;
};

// Dag is acyclic and has at least one node; no edge occurs twice, and none leads from a node to
// itself.
struct Dag {
  std::vector<std::vector<int>> consumers;  // by node, ascending
  std::vector<std::vector<int>> producers;  // by node, ascending
  std::vector<int> order;                   // topological; where it leaves a choice, by number
  int size() const { return static_cast<int>(order.size()); }
};

// Makes a graph whose nodes are numbered as in `names`. An edge that is given twice counts once.
// Throws an InputError that begins with `graph_name` if there are no nodes, an edge from a node to
// itself, or a cycle.
Dag MakeDag(std::span<const std::string> names, std::span<const DagEdge> edges,
            const std::string& graph_name);

// Throws an InputError if the graph is not connected, ignoring directions of edges; it names one
// node of each of two components.
void RequireOneComponent(std::span<const std::string> names, std::span<const DagEdge> edges,
                         const std::string& graph_name);

}  // namespace stagecraft
