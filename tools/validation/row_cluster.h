// The cluster that a measured row ran on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {

// How a default opens that stands for a network nobody states.
inline constexpr std::string_view kAssumedNetwork = "network of ";

// From `node_id` where the node catalogue has it, else from the wiring and the
// bandwidth the row gives; `gpu_id` wins over the node's own board. What had to
// be assumed is appended to `defaults_used`. Throws InputError with the reason
// where the row does not describe a cluster we know.
Cluster BuildRowCluster(const MeasuredRow& row, std::vector<std::string>& defaults_used);

// "a*4+b*4": names with counts, in rank order; a name alone counts `otherwise`.
struct CountedName {
  std::string name;
  int64_t count = 0;
};
std::vector<CountedName> SplitMixture(const std::string& text, int64_t otherwise);

}  // namespace stagecraft
