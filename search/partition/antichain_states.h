// AntichainStates: how far a network may have been computed, as PipeDream sees it. A state is an
// antichain of operators, the frontier: they and everything before them are done. A stage is what
// lies between two states.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {

// AntichainState is one state, with sums over everything that is done.
struct AntichainState {
  NodeSet done;  // a downset: with each node it holds everything that the node needs
  Duration compute;
  Bytes activations;
  Bytes parameters;
  Bytes output;     // needed by the rest: activations of the augmented antichain
  NodeSet earlier;  // states from which a path leads here, as bits
};

// AntichainStates holds the states in a topological order: from the state in which only the first
// source is done to the one in which every operator is.
struct AntichainStates {
  std::vector<AntichainState> states;
  int size() const { return static_cast<int>(states.size()); }
};

// A table of all pairs of this many states takes 128 MB.
inline constexpr int kMostAntichainStates = 4000;

// Returns the states of PipeDream's recurrence (Narayanan et al., "PipeDream", SOSP 2019; its
// graph.py). They are found breadth first: each member of a frontier, which is augmented by earlier
// nodes whose output is still needed, is replaced by one of its consumers. Not every downset is a
// state. As in that program, the output of a node before a member counts as needed if it has a
// consumer that is neither that member nor before it, even if that consumer is done. O(states *
// width * (nodes / 64 + width)). Throws InputError for more than `most` states (CompressBranches()
// helps), and Stopped.
AntichainStates FindAntichainStates(const TimedGraph& graph, int most = kMostAntichainStates,
                                    const StopSign& stop = {});

}  // namespace stagecraft
