// NodeSet: a set of nodes of a graph.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <vector>

#include "search/partition/dag.h"

namespace stagecraft {

// One bit for each node of the graph.
using NodeSet = boost::dynamic_bitset<uint64_t>;

// Return, by node, all nodes from which a path leads to the node (Ancestors) or to which a path
// leads from it (Descendants), without the node itself. O(edges * nodes / 64).
std::vector<NodeSet> Ancestors(const Dag& dag);
std::vector<NodeSet> Descendants(const Dag& dag);

// Returns the members, ascending.
std::vector<int> Members(const NodeSet& set);

}  // namespace stagecraft
