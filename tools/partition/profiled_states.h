// ProfiledStates: a profile of PipeDream, prepared for the planners that cut between antichain
// states.
#pragma once

#include <string>
#include <vector>

#include "search/partition/antichain_states.h"
#include "search/partition/dag.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"
#include "search/partition/timed_graph.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {

struct ProfiledStates {
  TimedGraph graph;  // with branches compressed if it would have too many states
  AntichainStates states;
};

// Reads the request's graph. Stores the number of states in `answer`, and adds a note if branches
// are compressed. Throws InputError, and Stopped.
ProfiledStates ReadProfiledStates(const PartitionRequest& request, const StopSign& stop,
                                  PartitionAnswer& answer);

// For planners whose answer is a rate: throws InputError if no operator takes any time.
void RequireTime(const ProfiledStates& profile, const PartitionGraph& graph);

std::vector<std::string> NamesOf(const TimedGraph& graph, const NodeSet& nodes);

}  // namespace stagecraft
