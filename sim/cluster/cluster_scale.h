// ClusterScale: a cluster with wider or narrower links, or with more or less memory.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// Factors over what the cluster has, each from kLeastScale to kMostScale.
struct ClusterScale {
  double network = 1;  // bandwidth of everything between scale-up domains: interfaces and fabrics
  double links = 1;    // bandwidth of everything else: links between devices, PCIe
  double memory = 1;   // capacity of the memory of devices

  friend bool operator==(const ClusterScale&, const ClusterScale&) = default;
};
inline constexpr double kLeastScale = 1e-3;
inline constexpr double kMostScale = 1e3;

// Returns the cluster with these factors; latencies and the speeds of devices stay as they are, and
// so do slow parts. Throws InputError that begins with `place` if bandwidths change of a cluster
// whose file gives every link.
Cluster Scaled(const Cluster& cluster, const ClusterScale& scale, const std::string& place);

// Reads "network=0.5,memory=2", or an empty text. Throws InputError that begins with `place`.
ClusterScale ParseClusterScale(const std::string& text, const std::string& place);

}  // namespace stagecraft
