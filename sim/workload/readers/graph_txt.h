// ProfiledGraph: a network as PipeDream's profiler writes it (graph.txt): how long every operator
// took on one GPU for one minibatch, and which operators feed which.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct ProfiledNode {
  std::string id;
  std::string description;  // as PyTorch prints the module
  Duration forward;
  Duration backward;
  Bytes activation;  // output for one minibatch; several outputs are added up
  Bytes parameters;
  int stage = -1;  // -1: the file assigns none
  // Whether it loads data, whose time is not part of a training step.
  bool is_input() const { return description.starts_with("Input"); }
  friend bool operator==(const ProfiledNode&, const ProfiledNode&) = default;
};

struct ProfiledEdge {
  int from = 0;  // indices into nodes
  int to = 0;
  friend auto operator<=>(const ProfiledEdge&, const ProfiledEdge&) = default;
};

// Acyclic. Nodes are in a topological order, with free choices by id ("node9" before "node10"); so
// every edge runs to a higher index. Edges are sorted and no two are equal.
struct ProfiledGraph {
  std::vector<ProfiledNode> nodes;
  std::vector<ProfiledEdge> edges;
};

// Throws InputError with the line for lines that are neither a node nor an edge, for numbers that
// are missing, negative or not finite, for nodes or edges that occur twice, edges to nodes that do
// not occur, and cycles.
ProfiledGraph ParseProfiledGraph(const std::string& text, const std::string& name_for_errors);
ProfiledGraph ReadProfiledGraph(const std::string& path);

// Returns the graph as a workload: every operator becomes a layer, in the order of the graph. One
// sample is the minibatch that was profiled, as one row in a sequence of one. A layer hands on
// every output that a later layer reads. Sizes are taken to be those of 32-bit numbers. Throws
// InputError for fewer than two operators besides inputs.
Workload ToWorkload(const ProfiledGraph& graph, const std::string& name);

}  // namespace stagecraft
