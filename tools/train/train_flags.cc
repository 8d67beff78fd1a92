#include "tools/train/train_flags.h"

namespace stagecraft {
namespace {

constexpr double kMostGbPerS = 1e6;
constexpr double kMostSeconds = 1e6;

}  // namespace

void TrainFlags::Register(Flags& flags) {
  flags.AddExample(
      "train --model megatron:48x1024x16 --cluster a100-sxm4-40gb:1x8 --pp 8 --micro-batch 2 "
      "--global-batch 64 --seq 2048 --steps 10000 --dynamics prune.yaml --balance diffusion");
  flags.AddExample(
      "train --model llama3-70b --cluster h100-sxm:64x8 --tp 8 --pp 4 --global-batch 1024 --seq "
      "8192 --steps 100000 --events faults.yaml --checkpoint auto --storage-bandwidth 100 "
      "--recover spare --spares 2 --runs 200");
  flags.AddExample("train --job run.yaml --checkpoint 600 --report run.html");
  FlagGroup group = flags.In(FlagTopic::kTraining);
  group.Add("--job", job_file_,
            {"<file>",
             "A .yaml, .json or .textproto file that says what flags do not: network, cluster, "
             "plan, steps, dynamics, events, and what is done about them."});
  RegisterNetwork(flags);
  RegisterCluster(flags);
  RegisterRecovery(flags);
  group
      .Add("--runs", runs_,
           {"<n>", "How many histories are drawn; several are summed up by their quantiles.", "",
            "1"})
      .Between(1, 1'000'000);
  seed_flag_ = group.Add("--seed", seed_, {"<n>", "The seed of all that is drawn.", "", "1"});
}

void TrainFlags::RegisterNetwork(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kTraining);
  steps_flag_ = group.Add("--steps", steps_, {"<n>", "How many steps the run has."})
                    .Between(int64_t{1}, int64_t{1'000'000'000'000})
                    .Common();
  group
      .Add("--dynamics", dynamics_,
           {"<file>",
            "How the network changes: pruning, freezing, drift of experts, early exit, mixture of "
            "depths, sparse attention, or measured states."})
      .Common();
  balance_flag_ =
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
  profiling_share_.flag =
      group.Add("--profiling-share", profiling_share_.text,
                {"<percent>", "By how much a step that measures times is longer.", "", "5%"});
  worth_flag_ =
      group.Add("--balance-if-worth", balance_if_worth_,
                {"", "Layers move only if that pays before the next change of the network."});
  repack_flag_ =
      group.Add("--repack", repack_,
                {"", "With --balance: stages that a smaller network does not need are freed."});
  repack_loss_.flag =
      group.Add("--repack-loss", repack_loss_.text,
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
  group
      .Add("--mtbf", mtbf_s_,
           {"<seconds>",
            "In place of --events: some node fails every so many seconds on average, such as 3h, "
            "and works again when the run restarts."})
      .Between(1.0, kMostSeconds)
      .InSeconds();
  checkpoint_flag_ =
      group.Add("--checkpoint", checkpoint_,
                {"<seconds>",
                 "Computing time between checkpoints; auto: what is best for the failures that are "
                 "drawn; none: a run that fails starts again.",
                 "auto, none or above 0", "none"});
  storage_flag_ =
      group
          .Add("--storage-bandwidth", storage_gb_per_s_,
               {"<GB/s>", "What the storage takes and gives, for all devices together."})
          .Between(1e-6, kMostGbPerS);
  async_flag_ = group.Add("--checkpoint-async", checkpoint_async_,
                          {"", "Training goes on while a checkpoint is written."});
  checkpoint_slowdown_.flag =
      group.Add("--checkpoint-slowdown", checkpoint_slowdown_.text,
                {"<percent>", "How much speed devices lose while they write one.", "", "0%"});
}

void TrainFlags::RegisterRecovery(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kTraining);
  recover_flag_ = group
                      .Add("--recover", recover_,
                           {"<name>",
                            "After a failure: wait for the repair, take spare nodes, go on with "
                            "the replicas that "
                            "are left, or search another plan for what is left.",
                            "", "restart"})
                      .OneOf({"restart", "spare", "shrink", "replan"});
  spares_flag_ = group.Add("--spares", spares_, {"<n>", "Spare nodes, with --recover spare."})
                     .Between(1, 1'000'000);
  detection_flag_ = group
                        .Add("--detection", detection_s_,
                             {"<seconds>", "From a failure until the run notices it.", "", "30"})
                        .Between(0.0, kMostSeconds)
                        .InSeconds();
  restart_flag_ = group
                      .Add("--restart", restart_s_,
                           {"<seconds>", "To start processes and communicators.", "", "120"})
                      .Between(0.0, kMostSeconds)
                      .InSeconds();
  swap_flag_ = group
                   .Add("--swap", swap_s_,
                        {"<seconds>", "Until spare nodes have taken their places.", "", "60"})
                   .Between(0.0, kMostSeconds)
                   .InSeconds();
}

}  // namespace stagecraft
