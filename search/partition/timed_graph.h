// TimedGraph: the operators that a partitioner may spread, with what each takes for one minibatch
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

// Returns the graph as PipeDream's optimizer prepares a profile: without inputs, which belong to
// the first stage, and without "__getitem__" nodes whose output no node reads. Throws InputError if
// nothing is left or if what is left is not connected.
TimedGraph ToTimedGraph(const ProfiledGraph& profile, const std::string& name);

// CompressedGraph is a graph in which every chain behind a fork (nodes that are each fed by one
// node and feed at most one) is one node: times and parameters are added up, the activation is that
// of the last node. `groups` holds, by new node, the old ones in order.
struct CompressedGraph {
  TimedGraph graph;
  std::vector<std::vector<int>> groups;
};
CompressedGraph CompressBranches(const TimedGraph& graph);

}  // namespace stagecraft
