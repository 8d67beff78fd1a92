// TrainFlags: what happens in a training run over time, and what the run does about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/training/job.h"
#include "sim/dynamics/dynamics.h"
#include "tools/flags/planned_job.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// What the flags ask for, checked.
struct TrainRequest {
  int64_t steps = 0;
  std::vector<NetworkChange> changes;
  BalancePolicy balance;
  RunConditions conditions;
  int runs = 1;
  uint64_t seed = 1;
  bool compares_balancers = false;
  Bytes checkpoint_bytes;  // zero without checkpoints
  Duration mtbf;           // between failures of anything; Duration::Max() if nothing is drawn
  std::vector<std::string> files = {};     // that were read
  std::vector<std::string> warnings = {};  // assumptions, a sentence each
};

class TrainFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);
  // Throws InputError that names the flag or the file at fault.
  TrainRequest Build(const PlannedJob& job) const;

 private:
  void RegisterNetwork(Flags& flags);
  void RegisterCluster(Flags& flags);
  BalancePolicy Policy(const PlannedJob& job) const;
  void ReadDynamics(const PlannedJob& job, TrainRequest& request) const;
  void ReadEvents(const PlannedJob& job, TrainRequest& request) const;
  void SetCheckpoint(const PlannedJob& job, TrainRequest& request) const;
  void SetRecovery(TrainRequest& request) const;

  int64_t steps_ = 0;
  std::string dynamics_, balance_ = "none", by_ = "time";
  double noise_ = 0.05;
  std::string profiling_share_ = "5%", repack_loss_ = "1%";
  bool balance_if_worth_ = false, repack_ = false, compare_ = false;
  std::string events_, checkpoint_, recover_ = "restart";
  double storage_gb_ = 0;
  bool checkpoint_async_ = false;
  std::string checkpoint_slowdown_ = "0%";
  int spares_ = 0;
  double detection_s_ = 30, restart_s_ = 120, swap_s_ = 60;
  int runs_ = 1;
  uint64_t seed_ = 1;
  Flag steps_flag_, by_flag_, storage_flag_, spares_flag_, repack_loss_flag_, noise_flag_,
      async_flag_, slowdown_flag_, runs_flag_;
};

}  // namespace stagecraft
