// Route: the links that a message from one device to another passes.
#pragma once

#include <vector>

#include "costmodel/link.h"

namespace stagecraft {

struct Route {
  Link narrowest;                // bandwidth of the narrowest link, latencies added up
  bool crosses_domains = false;  // leaves the scale-up domain, and so passes the network
  std::vector<int> links;        // indices of the graph's links, in order
};

}  // namespace stagecraft
