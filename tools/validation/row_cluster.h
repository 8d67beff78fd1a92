// Builds the cluster on which a measured row ran.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {

// How the words about an assumed network begin, if a row does not state its network.
inline constexpr std::string_view kAssumedNetwork = "network of ";

// Builds the cluster from `node_id` if the node catalogue has it, else from the wiring and the
// bandwidth that the row gives; `gpu_id` takes precedence over the node's own GPU. Appends what had
// to be assumed to `defaults_used`. Throws an InputError with the reason if the row does not
// describe a known cluster.
Cluster BuildRowCluster(const MeasuredRow& row, std::vector<std::string>& defaults_used);

// Parses "a*4+b*4": names with counts, in rank order; the count of a name alone is `otherwise`.
struct CountedName {
  std::string name;
  int64_t count = 0;
};
std::vector<CountedName> SplitMixture(const std::string& text, int64_t otherwise);

}  // namespace stagecraft
