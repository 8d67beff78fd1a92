// Describes the links of a node, and of a route, as text by which people can check them.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Returns the endpoints of the cluster's first node, each with the links that leave it; equal links
// to endpoints of one kind share a line:
//   gpu0     -> nvswitch  450 GB/s nvlink 300 ns
//            -> pcie0      63 GB/s pcie 500 ns
std::string DescribeNodeLinks(const Cluster& cluster);

// Returns the links of a route, one in each line, with its bottleneck marked:
//   node0/gpu0 -> node0/nic0  63 GB/s pcie
//   node0/nic0 -> ib/leaf0    50 GB/s network  bottleneck
std::string DescribeRoute(const Cluster& cluster, const Route& route);

}  // namespace stagecraft
