// --cost-model: which model prices ops.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>

#include "costmodel/cost_model.h"

namespace stagecraft {

class CostModelFlag {
 public:
  // Registers the flag; the object must outlive the parse.
  void Register(CLI::App& app);
  // "learned" is the model in the binary, "analytical" the one without samples,
  // anything else a file that `fit` wrote: of a network model, with the kernels of the
  // model in the binary. Throws InputError.
  std::unique_ptr<CostModel> Load() const;
  // The same model without the curves that its network model has of these sites; nullptr if it
  // has none of them.
  std::unique_ptr<CostModel> LoadWithout(std::span<const std::string> sites) const;
  const std::string& name() const { return name_; }
  // The file that it names; empty for those in the binary.
  std::string file() const;

 private:
  std::string name_ = "learned";
};

}  // namespace stagecraft
