// Finds the parts of a cluster by the names that NameOf() gives them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"

namespace stagecraft {

// Each returns the number of a part; no value if the cluster has none of that name.
std::optional<int> FindDevice(std::string_view name, const Cluster& cluster);  // "node3/gpu1"
std::optional<int> FindNode(std::string_view name, const Cluster& cluster);    // "node3"
std::optional<int> FindRack(std::string_view name, const Racks& racks);        // "rack2"

// Returns the numbers of all links with these names ("node0/gpu3 -> node0/nic3"), by name: several
// if they are parallel, none if the cluster lacks the name. One pass over the links of the cluster.
std::map<std::string, std::vector<int>> FindLinks(std::span<const std::string> names,
                                                  const Cluster& cluster);

// The names that there are, for sentences about one that the cluster lacks: "from node0/gpu0 to
// node3/gpu7"; "from node0 to node3"; a link for the form of its name; and all of these in words.
std::string DescribeDevices(const Cluster& cluster);
std::string DescribeNodes(const Cluster& cluster);
std::string LinkExample(const Cluster& cluster);
std::string DescribeParts(const Cluster& cluster);

}  // namespace stagecraft
