// --cost-model and --measured-ops: the model that prices ops, and ops whose time was measured.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/network/network_model.h"
#include "sim/cluster/cluster.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// CostModelFlag: which cost model a verb uses.
class CostModelFlag {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);
  // Returns the cost model: "learned" is the one in the binary, "analytical" the one without
  // samples, anything else a file that `fit` wrote. A file of a network model is combined with the
  // kernels of the model in the binary. Ops of --measured-ops take the time that was measured.
  // Throws InputError.
  std::unique_ptr<CostModel> Load() const;
  // Returns the same model without its network model's curves of these sites; nullptr if it has
  // no such curves.
  std::unique_ptr<CostModel> LoadWithout(std::span<const std::string> sites) const;
  // Returns a sentence about each network between nodes of the cluster whose kind is not stated, or
  // was never measured according to the model.
  std::vector<std::string> NotesOnNetworks(const Cluster& cluster) const;
  const std::string& name() const { return name_; }
  // The files that the flags name.
  std::vector<std::string> files() const;

 private:
  bool IsNetworkFile() const;
  NetworkModel Network() const;
  std::unique_ptr<CostModel> WithMeasuredOps(std::unique_ptr<CostModel> model) const;

  std::string name_ = "learned";
  std::vector<std::string> measured_ops_;
};

}  // namespace stagecraft
