// The flags that make operator graphs of workloads: which, for which batch, and
// who says what operators take on which GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/partition/partition_request.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class WorkloadGraphFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Throws InputError for a batch or a GPU without a workload.
  void Check() const;

  const std::string& model() const { return model_; }  // empty: not given
  const std::vector<std::string>& training_models() const { return training_models_; }
  bool is_given() const { return !model_.empty() || !training_models_.empty(); }

  // The graphs of workloads by name or file. Throws InputError naming the flag or
  // file at fault.
  std::vector<PartitionGraph> Load(const std::vector<std::string>& names) const;

  // Which GPU, precision, batch and cost model times are of; one line.
  std::string Note() const;
  std::vector<std::string> InputFiles() const;

 private:
  PartitionGraph LoadOne(const std::string& name, const CostModel& model) const;

  std::string model_, gpu_ = "a100-sxm4-80gb", precision_ = "bf16";
  std::vector<std::string> training_models_;
  int64_t sequence_ = 0, micro_batch_ = 1;
  CostModelFlag cost_model_;
  std::vector<Flag> batch_options_;
};

}  // namespace stagecraft
