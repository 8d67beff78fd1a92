// CostFlags: how long, for how much energy and for how much money a training run goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/step/training_cost.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// --tokens, --price, --energy-price and --pue.
class CostFlags {
 public:
  // Registers the flags; the object must outlive the parse. `is_common`: --help shows --tokens.
  void Register(Flags& flags, bool is_common = true);

  // Returns what is asked. Throws InputError that names the flag for a GPU type that neither the
  // cluster nor the catalogue has, for a malformed price, for a second price of a GPU type, for a
  // GPU type of the cluster without a price, and for --pue or --energy-price without --tokens
  // unless `has_run`: the length of the run is known without it.
  CostQuestion Build(const Cluster& cluster, bool has_run = false) const;

 private:
  std::vector<double> Prices(const Cluster& cluster) const;

  double tokens_ = 0, pue_ = kUsualPue;
  std::optional<double> energy_price_;
  std::vector<std::string> prices_;  // "h100-sxm=2.5", or "2.5" for all GPU types
  Flag tokens_flag_, energy_flag_, pue_flag_;
};

}  // namespace stagecraft
