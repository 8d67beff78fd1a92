// Changes of the words that name a cluster, such as "h100-sxm:8x8".
#pragma once

#include <optional>
#include <string>

namespace stagecraft {

// Returns the same nodes with another GPU type: as many nodes, each with as many GPUs, in the node
// that is usual for the GPU; "h100-sxm:8x8" becomes "h200-sxm:8x8", and so does "dgx-h100:8". Rates
// that were asked for (@nic=200) stay. Throws InputError that begins with `place` for a cluster
// file, and for an unknown GPU type.
std::string WithGpu(const std::string& cluster, const std::string& gpu, const std::string& place);

// Returns the cluster with `factor` times as many nodes of every kind or, without a factor, with
// the number of nodes that `text` says. Throws InputError that begins with `place` for a cluster
// file, for a number of nodes that is not whole or not above 0, and for a number of nodes of a
// cluster with several kinds of them.
std::string WithNodes(const std::string& cluster, const std::string& text,
                      std::optional<double> factor, const std::string& place);

}  // namespace stagecraft
