// Downsets: the sets of operators that can be done first. With each node, a downset holds
// everything that the node needs; a stage is the difference of two downsets.
#pragma once

#include <string>
#include <vector>

#include "search/partition/dag.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

inline constexpr int kMostDownsets = 100'000;

// Returns all downsets of the graph, smaller ones first, then in the order of their members; the
// first is empty, the last is the whole graph. O(downsets * nodes). Throws an InputError that
// begins with `graph_name` if there are more than `most`, and Stopped.
std::vector<NodeSet> FindDownsets(const Dag& dag, const std::string& graph_name,
                                  int most = kMostDownsets, const StopSign& stop = {});

}  // namespace stagecraft
