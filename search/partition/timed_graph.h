// TimedGraph: the operators that a partitioner may spread, with what each costs for one minibatch
// on one device.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/dag.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {

struct TimedNode {
  std::string name;
  Duration forward;
  Duration backward;
  Bytes activation;  // output of one minibatch
  Bytes parameters;
  Duration compute() const { return forward + backward; }
};

struct TimedGraph {
  std::string name;  // opens every error
  std::vector<TimedNode> nodes;
  Dag dag;
};

// The graph as PipeDream's optimizer prepares a profile: without inputs, which belong to the first
// stage, and without "__getitem__" nodes that nobody reads. Throws InputError if nothing is left or
// if what is left is not connected.
TimedGraph ToTimedGraph(const ProfiledGraph& profile, const std::string& name);

// A graph in which every chain that hangs off a fork (each node fed by one node and feeding one) is
// one node: its times and parameters are added up, its activation is that of its last node.
// `groups` holds, by new node, the old ones in order.
struct CompressedGraph {
  TimedGraph graph;
  std::vector<std::vector<int>> groups;
};
CompressedGraph CompressBranches(const TimedGraph& graph);

}  // namespace stagecraft
