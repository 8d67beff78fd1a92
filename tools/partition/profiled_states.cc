#include "tools/partition/profiled_states.h"

#include <fmt/core.h>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "tools/partition/read_graph.h"

namespace stagecraft {

ProfiledStates ReadProfiledStates(const PartitionRequest& request, const StopSign& stop,
                                  PartitionAnswer& answer) {
  ProfiledStates read;
  read.graph = ReadTimedGraph(request.graph);
  try {
    read.states = FindAntichainStates(read.graph, kMostAntichainStates, stop);
  } catch (const InputError&) {
    const size_t nodes = read.graph.nodes.size();
    read.graph = CompressBranches(read.graph).graph;
    read.states = FindAntichainStates(read.graph, kMostAntichainStates, stop);
    answer.notes.push_back(fmt::format(
        "branches were merged, {} nodes into {}, as the graph has too many antichain states", nodes,
        read.graph.nodes.size()));
  }
  answer.states = read.states.size();
  return read;
}

void RequireTime(const ProfiledStates& profile, const PartitionGraph& graph) {
  if (profile.states.states.back().compute > Duration()) return;
  throw InputError(graph.path +
                   ": got only operators that take no time, want at least one that does, for the "
                   "rate of minibatches to be finite");
}

std::vector<std::string> NamesOf(const TimedGraph& graph, const NodeSet& nodes) {
  std::vector<std::string> names;
  for (const int node : Members(nodes)) names.push_back(graph.nodes[node].name);
  return names;
}

}  // namespace stagecraft
