// Dag: which operators feed which. All partitioners of operators are built on it.
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

// Acyclic, with at least one node; no edge occurs twice, and none leads from a node to itself.
struct Dag {
  std::vector<std::vector<int>> consumers;  // by node, ascending
  std::vector<std::vector<int>> producers;  // by node, ascending
  std::vector<int> order;                   // topological; free choices by number
  int size() const { return static_cast<int>(order.size()); }
};

// Nodes are numbered as in `names`. An edge given twice counts once. Throws an InputError that
// opens with `graph_name` for no nodes, an edge from a node to itself and a cycle.
Dag MakeDag(std::span<const std::string> names, std::span<const DagEdge> edges,
            const std::string& graph_name);

// Throws an InputError that names a node of each of two components that no edge, in either
// direction, joins.
void RequireOneComponent(std::span<const std::string> names, std::span<const DagEdge> edges,
                         const std::string& graph_name);

}  // namespace stagecraft
