// TrainFlags, second part: what a file says, and what is built from the values.
#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "search/balance/balance.h"
#include "search/training/job_simulation.h"
#include "search/training/plan_division.h"
#include "search/training/stage_loads.h"
#include "sim/job/checkpoint.h"
#include "sim/job/job_events_proto.h"
#include "tools/train/train_flags.h"
#include "tools/verb/quantity.h"

namespace stagecraft {
namespace {

constexpr double kBytesPerGb = 1e9;
constexpr double kMostSteps = 1e12;

// Takes a value of a file unless the flag is given.
template <typename Value, typename InFile>
void Take(const Flag& flag, const InFile& in_file, Value& value) {
  if (!flag.is_given()) value = in_file;
}

// The names of flags for the enums of files, which have the same order and a value for "absent".
constexpr const char* kBalancers[] = {"none", "none", "partition", "diffusion"};
constexpr const char* kBases[] = {"time", "param", "time", "truth"};
constexpr const char* kPolicies[] = {"restart", "restart", "spare", "shrink", "replan"};

}  // namespace

void TrainFlags::ReadJob(PlanFlags& plan, bool has_tokens) {
  if (!job_file_.empty()) TakeJob(plan);
  if (steps_ == 0 && !has_tokens) {
    throw InputError(
        "--steps: got none, want how many steps the run has, here or in a file of --job, or "
        "--tokens");
  }
}

int64_t TrainFlags::Steps(const PlannedJob& job) const {
  const double tokens = job.cost.tokens;
  if (tokens > 0 && steps_flag_.is_given()) {
    throw InputError("--tokens: got it with --steps, want one of them");
  }
  if (tokens > 0) {
    const double per_step =
        static_cast<double>(job.plan.global_batch) * static_cast<double>(job.plan.sequence);
    const double steps = std::ceil(tokens / per_step);
    if (steps <= kMostSteps) return static_cast<int64_t>(steps);
    throw InputError(fmt::format("--tokens: got {:g} steps of {:g} tokens, want at most {:g}",
                                 steps, per_step, kMostSteps));
  }
  return steps_;
}

void TrainFlags::TakeJob(PlanFlags& plan) {
  job_ = ReadJobFile(job_file_);
  plan.TakeFromFile(job_->model, job_->cluster, job_->plan);
  const JobProto& proto = job_->proto;
  if (proto.steps() > 0) Take(steps_flag_, proto.steps(), steps_);
  if (proto.has_seed()) Take(seed_flag_, proto.seed(), seed_);
  if (proto.has_balance()) TakeBalance(proto.balance());
  if (proto.has_checkpoint()) TakeCheckpoint(proto.checkpoint());
  if (proto.has_recovery()) TakeRecovery(proto.recovery());
}

void TrainFlags::TakeBalance(const BalancePolicyProto& balance) {
  Take(balance_flag_, kBalancers[balance.balancer()], balance_);
  Take(by_flag_, kBases[balance.by()], by_);
  if (balance.has_noise()) Take(noise_flag_, balance.noise(), noise_);
  if (balance.has_profiling_share()) profiling_share_.in_file = balance.profiling_share();
  Take(worth_flag_, balance.only_if_worth(), balance_if_worth_);
  Take(repack_flag_, balance.repacks(), repack_);
  if (balance.has_repack_loss()) repack_loss_.in_file = balance.repack_loss();
}

void TrainFlags::TakeCheckpoint(const CheckpointPolicyProto& checkpoint) {
  const double interval = checkpoint.interval_s();
  Take(checkpoint_flag_, interval > 0 ? fmt::format("{}", interval) : "auto", checkpoint_);
  Take(storage_flag_, checkpoint.storage_bytes_per_s() / kBytesPerGb, storage_gb_per_s_);
  Take(async_flag_, checkpoint.is_asynchronous(), checkpoint_async_);
  checkpoint_slowdown_.in_file = checkpoint.slowdown();
}

void TrainFlags::TakeRecovery(const RecoveryProto& recovery) {
  Take(recover_flag_, kPolicies[recovery.policy()], recover_);
  Take(spares_flag_, recovery.spare_nodes(), spares_);
  if (recovery.has_detection_s()) Take(detection_flag_, recovery.detection_s(), detection_s_);
  if (recovery.has_restart_s()) Take(restart_flag_, recovery.restart_s(), restart_s_);
  if (recovery.has_swap_s()) Take(swap_flag_, recovery.swap_s(), swap_s_);
}

double TrainFlags::Value(const Share& share) {
  if (share.in_file && !share.flag.is_given()) return *share.in_file;
  const double percent = ParsePercent(share.flag.name(), share.text);
  if (percent >= 100) {
    throw InputError(fmt::format("{}: got \"{}\", want a share from 0% to below 100%",
                                 share.flag.name(), share.text));
  }
  return percent / 100;
}

BalancePolicy TrainFlags::Balance(const PlannedJob& job) const {
  BalancePolicy policy;
  policy.balancer = BalancerNamed(balance_).value();
  policy.by = LoadBasisNamed(by_).value();
  policy.noise = noise_;
  policy.profiling_share = Value(profiling_share_);
  policy.only_if_worth = balance_if_worth_;
  policy.repacks = repack_;
  policy.repack_loss = Value(repack_loss_);
  if (policy.balancer == Balancer::kNone && !compare_) {
    for (const Flag& flag : {by_flag_, noise_flag_, worth_flag_, repack_flag_}) {
      if (!flag.is_given()) continue;
      throw InputError(
          fmt::format("{}: got it without --balance, want partition or diffusion", flag.name()));
    }
  } else {
    CheckDivisible(job.plan);
  }
  if (repack_loss_.flag.is_given() && !repack_) {
    throw InputError("--repack-loss: got it without --repack, want both or none");
  }
  return policy;
}

void TrainFlags::SetChanges(const PlannedJob& job, TrainRequest& request) const {
  std::optional<FilePart<DynamicsProto>> part;
  if (!dynamics_.empty()) {
    part = ReadPart<DynamicsProto>(dynamics_);
    request.files.push_back(dynamics_);
  } else if (job_) {
    part = job_->dynamics;
  }
  if (!part) return;
  const Dynamics dynamics = ReadDynamics(*part, job.workload, request.files);
  request.changes = ChangesOf(dynamics, job.workload, request.steps, Random(seed_));
  if (request.changes.empty()) {
    request.warnings.push_back("the network does not change before the run ends");
  }
}

void TrainFlags::SetEvents(const PlannedJob& job, TrainRequest& request) const {
  request.mtbf = Duration::Max();
  std::optional<FilePart<JobEventsProto>> part;
  if (!events_.empty()) {
    part = ReadPart<JobEventsProto>(events_);
    request.files.push_back(events_);
  } else if (job_) {
    part = job_->events;
  }
  if (mtbf_s_ > 0) {
    if (part) throw InputError("--mtbf: got it beside a file of events, want one of them");
    const double of_node_s = mtbf_s_ * job.cluster.node_count();
    if (of_node_s > kLongestTime.seconds()) {
      throw InputError(
          fmt::format("--mtbf: got {:g} s of {} nodes, want less than 100 years of each", mtbf_s_,
                      job.cluster.node_count()));
    }
    request.conditions.rates.node_mtbf = Duration::Seconds(of_node_s);
    request.mtbf = MeanTimeBetweenFailures(request.conditions.rates, job.cluster);
    return;
  }
  if (!part) return;
  JobEvents events = JobEventsFromProto(part->proto, job.cluster, part->name);
  request.conditions.events = std::move(events.events);
  request.conditions.rates = std::move(events.rates);
  request.conditions.nodes_per_rack = events.nodes_per_rack;
  request.mtbf = MeanTimeBetweenFailures(request.conditions.rates, job.cluster);
}

void TrainFlags::SetCheckpoint(const PlannedJob& job, TrainRequest& request) const {
  const Flag& slowdown_flag = checkpoint_slowdown_.flag;
  if (checkpoint_ == "none") {
    for (const Flag& flag : {storage_flag_, async_flag_, slowdown_flag}) {
      if (!flag.is_given()) continue;
      throw InputError(
          fmt::format("{}: got it without --checkpoint, want auto or seconds", flag.name()));
    }
    return;
  }
  if (slowdown_flag.is_given() && !checkpoint_async_) {
    throw InputError("--checkpoint-slowdown: got it without --checkpoint-async, want both or none");
  }
  if (storage_gb_per_s_ == 0) {
    throw InputError("--checkpoint: got it without --storage-bandwidth, want GB/s");
  }
  CheckpointPolicy& policy = request.conditions.checkpoint;
  policy.is_asynchronous = checkpoint_async_;
  policy.slowdown = Value(checkpoint_slowdown_);
  request.checkpoint_bytes = CheckpointBytes(job.plan, job.workload);
  policy.write = request.checkpoint_bytes / Bandwidth(storage_gb_per_s_ * kBytesPerGb);
  request.conditions.recovery.reload = policy.write;
  if (checkpoint_ == "auto") {
    if (request.mtbf == Duration::Max()) {
      throw InputError(
          "--checkpoint auto: got no failures that are drawn, want rates in --events, --mtbf or "
          "seconds");
    }
    policy.interval = BestCheckpointInterval(policy.write, request.mtbf);
    return;
  }
  const std::optional<double> seconds = ParseSeconds(checkpoint_);
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
  if (recovery.policy == Policy::kSpare) recovery.spare_nodes = spares_;
  recovery.detection = Duration::Seconds(detection_s_);
  recovery.restart = Duration::Seconds(restart_s_);
  recovery.swap = Duration::Seconds(swap_s_);
}

TrainRequest TrainFlags::Build(const PlannedJob& job) const {
  TrainRequest request;
  request.steps = Steps(job);
  request.balance = Balance(job);
  request.runs = runs_;
  request.seed = seed_;
  request.compares_balancers = compare_;
  if (job_) request.files = job_->files;
  SetChanges(job, request);
  SetEvents(job, request);
  SetCheckpoint(job, request);
  SetRecovery(request);
  if (request.runs > 1 && request.mtbf == Duration::Max() &&
      request.conditions.rates.slow.empty()) {
    throw InputError(
        "--runs: got several, but nothing is drawn, want rates in --events, or --mtbf");
  }
  return request;
}

}  // namespace stagecraft
