// The flags that make operator graphs from workloads: which workloads, for which batch, GPU type
// and precision, and which cost model says how long operators take.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/partition/partition_request.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// WorkloadGraphFlags: workloads to be cut or to learn on, as a command line describes them.
class WorkloadGraphFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Throws InputError if flags of the batch or the GPU type are given without a workload.
  void Check() const;

  const std::string& model() const { return model_; }  // empty: not given
  const std::vector<std::string>& training_models() const { return training_models_; }
  bool is_given() const { return !model_.empty() || !training_models_.empty(); }

  // Returns the graphs of workloads, which are given by name or file. Throws InputError that names
  // the flag or file at fault.
  std::vector<PartitionGraph> Load(const std::vector<std::string>& names) const;

  // Says in one line for which GPU type, precision and batch times are, and by which cost model.
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
