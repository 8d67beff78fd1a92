// TrainFlags: what happens in a training run over time, and what the run does about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/training/job.h"
#include "sim/dynamics/dynamics.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/planned_job.h"
#include "tools/train/job_file.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// What the flags and files ask for, checked.
struct TrainRequest {
  int64_t steps = 0;                   // > 0
  std::vector<NetworkChange> changes;  // of the network, before the last step
  BalancePolicy balance;
  RunConditions conditions;
  int runs = 1;       // >= 1
  uint64_t seed = 1;  // of all that is drawn
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
  // Reads the file of --job, if it is given: what it says counts where no flag is given, also for
  // `plan`. Must be called once, after the parse. Throws InputError as ReadJobFile() does,
  // and if nothing says how long the run is; `has_tokens`: --tokens does.
  void ReadJob(PlanFlags& plan, bool has_tokens);
  // Returns what flags and files ask for. Of job.cost, tokens say how many steps there are. Throws
  // InputError that names the flag, or the file and the key, at fault, and if nothing or both say
  // how many steps there are.
  TrainRequest Build(const PlannedJob& job) const;

 private:
  // A number between 0 and 1 that a flag gives as a percentage.
  struct Share {
    Flag flag;
    std::string text;
    std::optional<double> in_file = {};
  };

  void RegisterNetwork(Flags& flags);
  void RegisterCluster(Flags& flags);
  void RegisterRecovery(Flags& flags);
  void TakeJob(PlanFlags& plan);
  void TakeBalance(const BalancePolicyProto& balance);
  void TakeCheckpoint(const CheckpointPolicyProto& checkpoint);
  void TakeRecovery(const RecoveryProto& recovery);
  static double Value(const Share& share);
  BalancePolicy Balance(const PlannedJob& job) const;
  int64_t Steps(const PlannedJob& job) const;
  void SetChanges(const PlannedJob& job, TrainRequest& request) const;
  void SetEvents(const PlannedJob& job, TrainRequest& request) const;
  void SetCheckpoint(const PlannedJob& job, TrainRequest& request) const;
  void SetRecovery(TrainRequest& request) const;

  std::string job_file_;
  std::optional<JobFile> job_;
  int64_t steps_ = 0;
  std::string dynamics_, balance_ = "none", by_ = "time";
  double noise_ = 0.05;
  Share profiling_share_{.flag = {}, .text = "5%"}, repack_loss_{.flag = {}, .text = "1%"};
  bool balance_if_worth_ = false, repack_ = false, compare_ = false;
  double mtbf_s_ = 0;  // 0: not given
  std::string events_, checkpoint_ = "none", recover_ = "restart";
  double storage_gb_per_s_ = 0;
  bool checkpoint_async_ = false;
  Share checkpoint_slowdown_{.flag = {}, .text = "0%"};
  int spares_ = 0;
  double detection_s_ = 30, restart_s_ = 120, swap_s_ = 60;
  int runs_ = 1;
  uint64_t seed_ = 1;
  Flag steps_flag_, balance_flag_, by_flag_, noise_flag_, worth_flag_, repack_flag_;
  Flag checkpoint_flag_, storage_flag_, async_flag_;
  Flag recover_flag_, spares_flag_, detection_flag_, restart_flag_, swap_flag_, seed_flag_;
};

}  // namespace stagecraft
