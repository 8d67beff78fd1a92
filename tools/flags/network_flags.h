// --network and --link-rate: how messages share links, and what happens to links.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class NetworkFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);
  // A change of several links that have one name, being parallel, is one of each.
  // Throws InputError that names the flag.
  NetworkOptions Build(const Cluster& cluster) const;

 private:
  std::string fidelity_ = "model";
  std::vector<std::string> changes_;
};

}  // namespace stagecraft
