// Names the kinds of links that a group of devices crosses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Returns the common name of what a link of the cluster is: "NVLink", "PCIe", "InfiniBand";
// "network" if it is not stated what its interfaces speak.
std::string LinkKindName(const Cluster& cluster, int link);

// Returns how many of these links are of which kind, in the order in which kinds first occur:
// "4 PCIe, 2 InfiniBand"; "none" if there are no links.
std::string LinkKindsText(const Cluster& cluster, std::span<const int> links);
// The same as an object of numbers by kind.
nlohmann::ordered_json LinkKindsToJson(const Cluster& cluster, std::span<const int> links);

}  // namespace stagecraft
