// The endpoints and one-way links of a cluster as a graph, and routes in it.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <string>
#include <vector>

#include "costmodel/link.h"

namespace stagecraft {

struct Endpoint {
  std::string name;  // "node0/gpu3", "node0/nvswitch", "node0/nic1", "fabric"
  int device = -1;   // global device index, -1 for switches and NICs
};

struct ClusterLink : Link {
  int index = 0;  // 0, 1, ... in order of creation
};

using LinkGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Endpoint, ClusterLink>;

// What a message from one device to another passes.
struct Route {
  Link narrowest;                // bandwidth of the narrowest link, latencies added up
  bool crosses_domains = false;  // leaves the scale-up domain: passes the network
  std::vector<int> links;        // indices of the graph's links, in order
};

// The route from one vertex to another with the fewest links; of equals the
// one that is widest at its narrowest, then the one of lowest indices. Other
// devices forward nothing, unless there is no way but through them. No links:
// there is no route. `crosses_domains` is left false. O(vertices + links).
Route FindGraphRoute(const LinkGraph& graph, int from, int to);

}  // namespace stagecraft
