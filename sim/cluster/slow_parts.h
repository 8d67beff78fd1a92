// SlowParts: devices and links of a cluster that work at a share of their speed.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

namespace stagecraft {

// Both lists ascend by number and name nothing twice; what works at full speed is not in them.
struct SlowParts {
  // What computes takes 1 / rate as long. Launches of the host and transfers take what they took.
  std::vector<std::pair<int, double>> devices = {};  // rate in (0, 1)
  // A link has this share of its bandwidth, and its latency as before; at rate 0 nothing passes.
  std::vector<std::pair<int, double>> links = {};  // rate in [0, 1)

  bool empty() const { return devices.empty() && links.empty(); }
  friend bool operator==(const SlowParts&, const SlowParts&) = default;
};

// A group of devices, or a message, needs a link at rate 0: a step that has one never ends.
class LinkDownError : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

}  // namespace stagecraft
