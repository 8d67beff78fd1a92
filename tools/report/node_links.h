// The links of a node as people read them: a tree to look at and trust.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// The endpoints of the cluster's first node, each with the links that leave it;
// equal links to a run of like endpoints share a line:
//   gpu0     -> nvswitch  450 GB/s nvlink 300 ns
//            -> pcie0      63 GB/s pcie 500 ns
std::string DescribeNodeLinks(const Cluster& cluster);

// The links of a route, one a line, its narrowest marked:
//   node0/gpu0 -> node0/nic0  63 GB/s pcie
//   node0/nic0 -> ib/leaf0    50 GB/s network  narrowest
std::string DescribeRoute(const Cluster& cluster, const Route& route);

}  // namespace stagecraft
