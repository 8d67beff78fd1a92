// The flags of `partition` that only searches for stages take: devices of several types, learned
// policies and what they learn on. Also --budget, which all planners take.
#pragma once

#include <string>
#include <vector>

#include "search/partition/stages/stage_problem.h"
#include "search/solution.h"
#include "tools/partition/partition_request.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// StageSearchFlags: devices, budget and policy, as a command line describes them.
class StageSearchFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Sets the devices, budget and policy of `request`, except the graphs to learn on; `learns` says
  // whether there are any. Throws InputError that names the flag at fault.
  void Apply(bool learns, PartitionRequest& request) const;

  bool compares() const { return compares_; }
  bool saves() const { return !save_policy_.empty(); }
  // The name of the first given flag that only searches take, or that only learned policies take;
  // "" if none is given.
  std::string FlagOfSearches() const;
  std::string FlagOfPolicies() const;
  // The value of --budget for `method`, which counts no evaluations. Throws InputError if the value
  // limits them.
  Budget SecondsOf(const std::string& method) const;
  // The value of --policy: a file, or for hetpipe np, ed or hd.
  const std::string& policy() const { return policy_; }
  const std::vector<std::string>& training_graphs() const { return training_graphs_; }
  const std::string& page() const { return page_; }

 private:
  void RegisterPolicy(Flags& flags);
  std::vector<StageDeviceKind> Devices(const PartitionRequest& request) const;
  std::vector<std::vector<StageDeviceKind>> TrainingDevices(const PartitionRequest& request) const;

  std::string device_speeds_, device_memory_, budget_, policy_, save_policy_;
  std::string training_devices_, page_;
  std::vector<std::string> training_graphs_;
  int width_ = kPolicyWidth, rounds_ = 10;
  bool compares_ = false, is_directed_ = false;
  Flag width_option_;
  Flag budget_option_;
  std::vector<Flag> search_options_, policy_options_;
};

}  // namespace stagecraft
