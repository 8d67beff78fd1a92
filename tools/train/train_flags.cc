#include "tools/train/train_flags.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "costmodel/text.h"
#include "proto/dynamics.pb.h"
#include "proto/job_events.pb.h"
#include "search/balance/balance.h"
#include "search/training/job_simulation.h"
#include "search/training/plan_division.h"
#include "search/training/stage_loads.h"
#include "sim/dynamics/dynamics_proto.h"
#include "sim/job/job_events_proto.h"

namespace stagecraft {
namespace {

constexpr double kBytesPerGb = 1e9;
constexpr double kMostGbPerS = 1e6;
constexpr double kMostSeconds = 1e6;

double ShareOf(const std::string& flag, const std::string& text) {
  const double percent = ParsePercent(flag, text);
  if (percent >= 100) {
    throw InputError(fmt::format("{}: got \"{}\", want a share from 0% to below 100%", flag, text));
  }
  return percent / 100;
}

}  // namespace

void TrainFlags::Register(Flags& flags) {
  flags.AddExample(
      "train --model megatron:48x1024x16 --cluster a100-sxm4-40gb:1x8 --pp 8 --micro-batch 2 "
      "--global-batch 64 --seq 2048 --steps 10000 --dynamics prune.yaml --balance diffusion");
  flags.AddExample(
      "train --model llama3-70b --cluster h100-sxm:64x8 --tp 8 --pp 4 --global-batch 1024 --seq "
      "8192 --steps 100000 --events faults.yaml --checkpoint auto --storage-bandwidth 100 "
      "--recover spare --spares 2 --runs 200");
  RegisterNetwork(flags);
  RegisterCluster(flags);
}

void TrainFlags::RegisterNetwork(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kTraining);
  steps_flag_ = group.Add("--steps", steps_, {"<n>", "How many steps the run has."})
                    .Between(int64_t{1}, int64_t{1'000'000'000'000})
                    .Required()
                    .Common();
  group
      .Add("--dynamics", dynamics_,
           {"<file>",
            "How the network changes: pruning, freezing, drift of experts, early exit, mixture of "
            "depths, sparse attention, or measured states."})
      .Common();
  group
      .Add("--balance", balance_,
           {"<name>",
            "Who divides the layers over the stages anew when the network changes: nobody, the "
            "best division that a coordinator finds, or diffusion among neighbouring stages.",
            "", "none"})
      .OneOf({"none", "partition", "diffusion"});
  by_flag_ =
      group
          .Add("--by", by_,
               {"<name>",
                "What a balancer takes for the loads of layers: their parameters, times that "
                "a profiling step measures, or the true times.",
                "", "time"})
          .OneOf({"param", "time", "truth"});
  noise_flag_ = group
                    .Add("--balance-noise", noise_,
                         {"<sigma>", "The standard deviation of the logarithm of a measured time.",
                          "", "0.05"})
                    .Between(0.0, 10.0);
  group.Add("--profiling-share", profiling_share_,
            {"<percent>", "By how much a step that measures times is longer.", "", "5%"});
  group.Add("--balance-if-worth", balance_if_worth_,
            {"", "Layers move only if that pays before the next change of the network."});
  group.Add("--repack", repack_,
            {"", "With --balance: stages that a smaller network does not need are freed."});
  repack_loss_flag_ =
      group.Add("--repack-loss", repack_loss_,
                {"<percent>", "The share of its pace that a run may lose by --repack.", "", "1%"});
  group.Add("--compare-balancers", compare_,
            {"",
             "Show the run with every balancer beside each other, and the bound that none of them "
             "can exceed."});
}

void TrainFlags::RegisterCluster(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kTraining);
  group
      .Add("--events", events_,
           {"<file>",
            "What happens to the cluster: slow-downs, failures and returns of devices, nodes, "
            "links and racks, at given times or drawn."})
      .Common();
  group.Add("--checkpoint", checkpoint_,
            {"<seconds>",
             "Computing time between checkpoints; auto: what is best for the failures that are "
             "drawn; none: a run that fails starts again.",
             "auto, none or above 0", "none"});
  storage_flag_ =
      group
          .Add("--storage-bandwidth", storage_gb_,
               {"<GB/s>", "What the storage takes and gives, for all devices together."})
          .Between(1e-6, kMostGbPerS);
  async_flag_ = group.Add("--checkpoint-async", checkpoint_async_,
                          {"", "Training goes on while a checkpoint is written."});
  slowdown_flag_ =
      group.Add("--checkpoint-slowdown", checkpoint_slowdown_,
                {"<percent>", "How much speed devices lose while they write one.", "", "0%"});
  group
      .Add("--recover", recover_,
           {"<name>",
            "After a failure: wait for the repair, take spare nodes, go on with the replicas that "
            "are left, or search another plan for what is left.",
            "", "restart"})
      .OneOf({"restart", "spare", "shrink", "replan"});
  spares_flag_ = group.Add("--spares", spares_, {"<n>", "Spare nodes, with --recover spare."})
                     .Between(1, 1'000'000);
  group
      .Add("--detection", detection_s_,
           {"<seconds>", "From a failure until the run notices it.", "", "30"})
      .Between(0.0, kMostSeconds);
  group
      .Add("--restart", restart_s_,
           {"<seconds>", "To start processes and communicators.", "", "120"})
      .Between(0.0, kMostSeconds);
  group
      .Add("--swap", swap_s_, {"<seconds>", "Until spare nodes have taken their places.", "", "60"})
      .Between(0.0, kMostSeconds);
  runs_flag_ =
      group
          .Add("--runs", runs_,
               {"<n>", "How many histories are drawn; several are summed up by their quantiles.",
                "", "1"})
          .Between(1, 1'000'000);
  group.Add("--seed", seed_, {"<n>", "The seed of all that is drawn.", "", "1"});
}

BalancePolicy TrainFlags::Policy(const PlannedJob& job) const {
  BalancePolicy policy;
  policy.balancer = BalancerNamed(balance_).value();
  policy.by = LoadBasisNamed(by_).value();
  policy.noise = noise_;
  policy.profiling_share = ShareOf("--profiling-share", profiling_share_);
  policy.only_if_worth = balance_if_worth_;
  policy.repacks = repack_;
  policy.repack_loss = ShareOf("--repack-loss", repack_loss_);
  if (policy.balancer == Balancer::kNone && !compare_) {
    for (const auto& [is_given, name] : {std::pair(by_flag_.is_given(), "--by"),
                                         {noise_flag_.is_given(), "--balance-noise"},
                                         {balance_if_worth_, "--balance-if-worth"},
                                         {repack_, "--repack"}}) {
      if (!is_given) continue;
      throw InputError(
          fmt::format("{}: got it without --balance, want partition or diffusion", name));
    }
  } else {
    CheckDivisible(job.plan);
  }
  if (repack_loss_flag_.is_given() && !repack_) {
    throw InputError("--repack-loss: got it without --repack, want both or none");
  }
  return policy;
}

void TrainFlags::ReadDynamics(const PlannedJob& job, TrainRequest& request) const {
  if (dynamics_.empty()) return;
  DynamicsProto proto;
  ReadProtoFile(dynamics_, &proto);
  request.files.push_back(dynamics_);
  Dynamics dynamics = DynamicsFromProto(proto, job.workload, dynamics_);
  if (!proto.states().empty()) {
    const std::string path =
        (std::filesystem::path(dynamics_).parent_path() / proto.states()).string();
    dynamics.measured = MeasuredChanges(ReadFile(path), path, job.workload);
    request.files.push_back(path);
  }
  request.changes = ChangesOf(dynamics, job.workload, request.steps, Random(seed_));
  if (request.changes.empty()) {
    request.warnings.push_back("the network does not change before the run ends");
  }
}

void TrainFlags::ReadEvents(const PlannedJob& job, TrainRequest& request) const {
  request.mtbf = Duration::Max();
  if (events_.empty()) return;
  JobEventsProto proto;
  ReadProtoFile(events_, &proto);
  request.files.push_back(events_);
  JobEvents events = JobEventsFromProto(proto, job.cluster, events_);
  request.conditions.events = std::move(events.events);
  request.conditions.rates = std::move(events.rates);
  request.conditions.nodes_per_rack = events.nodes_per_rack;
  request.mtbf = MeanTimeBetweenFailures(request.conditions.rates, job.cluster);
}

void TrainFlags::SetCheckpoint(const PlannedJob& job, TrainRequest& request) const {
  CheckpointPolicy& policy = request.conditions.checkpoint;
  policy.is_asynchronous = checkpoint_async_;
  policy.slowdown = ShareOf("--checkpoint-slowdown", checkpoint_slowdown_);
  const bool is_on = !checkpoint_.empty() && checkpoint_ != "none";
  if (!is_on) {
    for (const Flag& flag : {storage_flag_, async_flag_, slowdown_flag_}) {
      if (!flag.is_given()) continue;
      throw InputError(
          fmt::format("{}: got it without --checkpoint, want auto or seconds", flag.name()));
    }
    return;
  }
  if (slowdown_flag_.is_given() && !checkpoint_async_) {
    throw InputError("--checkpoint-slowdown: got it without --checkpoint-async, want both or none");
  }
  if (!storage_flag_.is_given()) {
    throw InputError("--checkpoint: got it without --storage-bandwidth, want GB/s");
  }
  request.checkpoint_bytes = CheckpointBytes(job.plan, job.workload);
  policy.write = request.checkpoint_bytes / Bandwidth(storage_gb_ * kBytesPerGb);
  request.conditions.recovery.reload = policy.write;
  if (checkpoint_ == "auto") {
    if (request.mtbf == Duration::Max()) {
      throw InputError(
          "--checkpoint auto: got no failures that are drawn, want rates in --events, or seconds");
    }
    policy.interval = BestCheckpointInterval(policy.write, request.mtbf);
    return;
  }
  const std::optional<double> seconds = ParseNumber<double>(checkpoint_);
  if (!seconds || !(*seconds > 0 && *seconds <= kLongestTime.seconds())) {
    throw InputError(
        fmt::format("--checkpoint: got \"{}\", want auto, none or seconds above 0", checkpoint_));
  }
  policy.interval = Duration::Seconds(*seconds);
}

void TrainFlags::SetRecovery(TrainRequest& request) const {
  Recovery& recovery = request.conditions.recovery;
  using Policy = Recovery::Policy;
  recovery.policy = recover_ == "spare"    ? Policy::kSpare
                    : recover_ == "shrink" ? Policy::kShrink
                    : recover_ == "replan" ? Policy::kReplan
                                           : Policy::kRestart;
  if (recovery.policy == Policy::kSpare && spares_ == 0) {
    throw InputError("--recover spare: got it without --spares, want a number of nodes");
  }
  if (recovery.policy != Policy::kSpare && spares_flag_.is_given()) {
    throw InputError(fmt::format("--spares: got it with --recover {}, want spare", recover_));
  }
  recovery.spare_nodes = spares_;
  recovery.detection = Duration::Seconds(detection_s_);
  recovery.restart = Duration::Seconds(restart_s_);
  recovery.swap = Duration::Seconds(swap_s_);
}

TrainRequest TrainFlags::Build(const PlannedJob& job) const {
  TrainRequest request;
  request.steps = steps_;
  request.balance = Policy(job);
  request.runs = runs_;
  request.seed = seed_;
  request.compares_balancers = compare_;
  ReadDynamics(job, request);
  ReadEvents(job, request);
  SetCheckpoint(job, request);
  SetRecovery(request);
  if (request.runs > 1 && request.mtbf == Duration::Max() &&
      request.conditions.rates.slow.empty()) {
    throw InputError("--runs: got several, but nothing is drawn, want rates in --events");
  }
  return request;
}

}  // namespace stagecraft
