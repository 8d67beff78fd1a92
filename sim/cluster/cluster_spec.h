// Clusters as users name them on the command line.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

// Returns the cluster that `spec` names. It is one of
//   GPU:NxG    N reference nodes of that GPU, G devices of each in use
//   NODE_ID:N  N nodes of that type; NODE_ID:NxG uses G devices of each
//   …@nic=X    the same with network interfaces of X Gbit/s each
//   A+B        a mixture of these, in rank order
//   a path to a ClusterProto in a .textproto, .json, .yaml or .pb file
// Throws InputError, whose message begins with `place` or, for a file, with its name.
Cluster ParseCluster(const std::string& spec, const std::string& place = "--cluster");

// Returns one line that names the node types chosen: "16 GPUs: 2 x dgx-h100 with 8 H100 SXM5 80GB
// (switched NVLink 450 GB/s per GPU, network 8 x 50 GB/s per node)".
std::string DescribeCluster(const Cluster& cluster);

// Returns the common name of such a link of `device`: "NVLink", "Infinity Fabric", "PCIe".
const char* LinkName(LinkKind kind, const Device& device);

}  // namespace stagecraft
