// The flags of `partition` that only searches for stages take: unlike devices,
// learned policies and what they learn on; and the budget of all.
#pragma once

#include <string>
#include <vector>

#include "search/partition/stages/stage_problem.h"
#include "search/solution.h"
#include "tools/partition/partition_request.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class StageSearchFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Sets what `request` says of devices, budget and policy, but for the graphs to
  // learn on. `learns`: there are such graphs. Throws InputError naming the flag
  // at fault.
  void Apply(bool learns, PartitionRequest& request) const;

  bool compares() const { return compares_; }
  bool saves() const { return !save_policy_.empty(); }
  // The first flag given that only searches take, or that only learned policies
  // take; or "".
  std::string FlagOfSearches() const;
  std::string FlagOfPolicies() const;
  // --budget of `method`, which counts no evaluations. Throws InputError where some are given.
  Budget SecondsOf(const std::string& method) const;
  // --policy: a file, or for hetpipe np, ed or hd.
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
