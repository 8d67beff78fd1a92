// --price: what devices cost.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// PriceFlag: the prices of the GPU types of a cluster.
class PriceFlag {
 public:
  // Registers the flag; the object must outlive the parse.
  void Register(Flags& flags);

  // Returns USD for an hour of a device, by node group of the cluster; empty if the flag is not
  // given. Throws InputError that names the flag for a name that neither the cluster nor the
  // catalogue has, for a malformed price, for a second price of a GPU type and for a GPU type of
  // the cluster without a price.
  std::vector<double> Build(const Cluster& cluster) const;

 private:
  std::vector<std::string> prices_;  // "h100-sxm=2.5"
};

}  // namespace stagecraft
