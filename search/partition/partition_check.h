// PartitionCheck: a partition's objective, computed anew from its definition without anything that
// a solver kept, and everything that is wrong with the partition.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "search/partition/dag.h"
#include "search/partition/node_set.h"
#include "search/partition/pipedream.h"
#include "search/partition/piper.h"
#include "search/partition/piper_problem.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {

struct PartitionCheck {
  std::vector<std::string> errors;  // one sentence each; empty: valid
  double objective = 0;             // in the solver's unit
};

// Checks that every node is in exactly one stage, that no stage is empty, and that every edge stays
// in its stage or leads to a later one (so stages form no cycle). Appends to `errors`.
void CheckStageOrder(const Dag& dag, std::span<const NodeSet> stages,
                     std::vector<std::string>& errors);

// Returns the bytes that cross a cut behind `done` for one minibatch: activations of the augmented
// antichain (antichain_states.h) at the end of `done`.
double FrontierBytes(const TimedGraph& graph, const NodeSet& done);

// The objective is the bottleneck in seconds per minibatch, by the rules of pipedream.h. Checks the
// machines of every level, and the memory if it is limited.
PartitionCheck CheckPipeDream(const TimedGraph& graph, const PipeDreamOptions& options,
                              const PipeDreamPartition& partition);

// The objective is the bottleneck in seconds per micro-batch, by the rules of piper.h. Checks
// devices, divisors, memory and the tensor degrees of the modes.
PartitionCheck CheckPiper(const PiperProblem& problem, const PiperOptions& options,
                          const PiperPartition& partition);

}  // namespace stagecraft
