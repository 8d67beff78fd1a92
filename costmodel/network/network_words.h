// The network of a node as people write it in tables: "8x400G NDR InfiniBand", "4x100G EFA",
// "RoCE 8x200Gb/s", "IB100G", "25GbE".
#pragma once

#include <optional>
#include <string_view>

#include "costmodel/link.h"

namespace stagecraft {

// Returns all interfaces of a node, in one direction, with the usual latency of their kind; nothing
// unless the words name one kind and a rate in Gbit/s, with the number of interfaces before it if
// that is not one. The generations of InfiniBand state the rate of one interface.
std::optional<Link> ParseNetworkWords(std::string_view words);

}  // namespace stagecraft
