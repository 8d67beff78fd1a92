// --network and --link-rate: how messages share links, and how the rates of links change.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// NetworkFlags: the fidelity of the network, and changes of its links.
class NetworkFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);
  // Returns the options for `cluster`. Parallel links have one name; a change that names them
  // applies to each. Throws InputError that names the flag.
  NetworkOptions Build(const Cluster& cluster) const;

 private:
  std::string fidelity_ = "model";
  std::vector<std::string> changes_;
};

}  // namespace stagecraft
