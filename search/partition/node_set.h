// NodeSet: some nodes of a graph.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <vector>

#include "search/partition/dag.h"

namespace stagecraft {

// Nodes as bits, as many as the graph has nodes.
using NodeSet = boost::dynamic_bitset<uint64_t>;

// By node, all nodes from which a path leads to it (Ancestors) or to which one leads from it
// (Descendants), without the node itself. O(edges * nodes / 64).
std::vector<NodeSet> Ancestors(const Dag& dag);
std::vector<NodeSet> Descendants(const Dag& dag);

// The members, ascending.
std::vector<int> Members(const NodeSet& set);

}  // namespace stagecraft
