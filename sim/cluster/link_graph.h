// The endpoints and one-way links of a cluster as a graph, and routes in it.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <string>

#include "costmodel/link.h"
#include "sim/cluster/route.h"

namespace stagecraft {

struct Endpoint {
  std::string name;  // "node0/gpu3", "node0/nvswitch", "node0/nic1", "fabric"
  int device = -1;   // global device index, -1 for switches and NICs
};

struct ClusterLink : Link {
  int index = 0;  // 0, 1, ... in order of creation
};

struct LinkGraph
    : boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Endpoint, ClusterLink> {
  using adjacency_list::adjacency_list;
};

// Returns the route from one vertex to another with the fewest links; among equals the one whose
// narrowest link is widest, then the one with the lowest indices. Other devices do not forward,
// unless there is no route except through them. A route without links means that there is none.
// `crosses_domains` stays false. Takes O(vertices + links).
Route FindGraphRoute(const LinkGraph& graph, int from, int to);

}  // namespace stagecraft
