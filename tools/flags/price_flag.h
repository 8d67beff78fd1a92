// --price: what devices cost.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class PriceFlag {
 public:
  // Registers the flag; the object must outlive the parse.
  void Register(Flags& flags);

  // USD for an hour of a device, by group of the cluster; empty where nothing was given.
  // Throws InputError that names the flag: for a name neither the cluster nor the
  // catalogue has, a price that is none, and a kind of the cluster without one.
  std::vector<double> Build(const Cluster& cluster) const;

 private:
  std::vector<std::string> prices_;  // "h100-sxm=2.5"
};

}  // namespace stagecraft
