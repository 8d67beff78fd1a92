// --cost-model and --measured-ops: which model prices ops, and which it need not.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class CostModelFlag {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);
  // "learned" is the model in the binary, "analytical" the one without samples,
  // anything else a file that `fit` wrote: of a network model, with the kernels of the
  // model in the binary. Ops of --measured-ops take what was measured. Throws InputError.
  std::unique_ptr<CostModel> Load() const;
  // The same model without the curves that its network model has of these sites; nullptr if it
  // has none of them.
  std::unique_ptr<CostModel> LoadWithout(std::span<const std::string> sites) const;
  const std::string& name() const { return name_; }
  // The files that the flags name.
  std::vector<std::string> files() const;

 private:
  std::unique_ptr<CostModel> WithMeasuredOps(std::unique_ptr<CostModel> model) const;

  std::string name_ = "learned";
  std::vector<std::string> measured_ops_;
};

}  // namespace stagecraft
