#include "sim/plan/asynchronous_errors.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/plan/asynchronous_plan.h"
#include "sim/plan/tied_stages.h"

namespace stagecraft {
namespace {

using Errors = std::vector<std::string>;

int64_t WidestStage(const Plan& plan) {
  size_t widest = 0;
  for (const Stage& stage : plan.stages) widest = std::max(widest, stage.replicas.size());
  return static_cast<int64_t>(widest);
}

void CheckUses(const Plan& plan, Errors& errors) {
  const char* name = Name(plan.schedule);
  if (plan.forward_only) {
    errors.push_back(fmt::format(
        "forward_only: with {}, which is about when weights change; want gpipe or 1f1b", name));
  }
  if (plan.zero > 1) {
    errors.push_back(
        fmt::format("zero: {} with {}, in which every replica keeps whole gradients, and older "
                    "weights until their backwards end; want 0 or 1",
                    plan.zero, name));
  }
  if (plan.overlap_param_gather) {
    errors.push_back(fmt::format(
        "overlap_param_gather: not with {}, in which the next pass uses the parameters", name));
  }
  if (plan.post_validation) {
    errors.push_back(fmt::format(
        "post_validation: changes nothing with {}, whose stages update on their own", name));
  }
  if (plan.offload.optimizer) {
    errors.push_back(
        fmt::format("offload_optimizer: not with {}, which updates after single passes", name));
  }
  if (plan.offload.activations > 0) {
    errors.push_back(
        fmt::format("offload_activations: not with {}; want a schedule that flushes", name));
  }
  if (plan.gradient_sync.method != SyncMethod::kAllReduce) {
    errors.push_back(fmt::format("gradient_sync: {} with {}, want all-reduce",
                                 Name(plan.gradient_sync.method), name));
  }
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    if (plan.stages[s].replica_micro_batches.empty()) continue;
    errors.push_back(fmt::format(
        "stages[{}].replica_micro_batches: with {}, whose replicas take turns; want none", s,
        name));
    return;
  }
}

// Replicas that exchange rows with each other's experts in the middle of a pass wait for one
// another, and with fewer micro-batches in flight than whole rounds they would wait forever.
void CheckExpertGroups(const Plan& plan, Errors& errors) {
  if (HasSeparatePipelines(plan)) return;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    if (!ReplicasKeepStep(plan, static_cast<int>(s))) continue;
    errors.push_back(
        fmt::format("stages[{}].expert_parallel: {}, over several replicas, with {} and stages "
                    "with unequal numbers of replicas; want the experts within each replica",
                    s, plan.stages[s].expert_parallel, Name(plan.schedule)));
    return;
  }
}

// Copies of one tensor would change at different times.
void CheckTies(const Plan& plan, const Workload& workload, Errors& errors) {
  if (!UpdatesEveryMiniBatch(plan.schedule) || !FindTiedStages(plan, workload)) return;
  errors.push_back(fmt::format(
      "order: {} wants an embedding and a head with separate weights, but {} ties them, and its "
      "first and last stage update at different times; want pipedream-2bw",
      Name(plan.schedule), workload.name));
}

// Every stage updates its weights in the course of its passes, and keeps versions of them.
void CheckFrozen(const Plan& plan, const Workload& workload, Errors& errors) {
  if (!workload.has_frozen_layers()) return;
  errors.push_back(
      fmt::format("order: {} updates the weights of every stage, but {} has frozen layers; want a "
                  "schedule that flushes the pipeline",
                  Name(plan.schedule), workload.name));
}

void CheckBatches(const Plan& plan, Errors& errors) {
  const char* name = Name(plan.schedule);
  const int64_t batch = plan.micro_batches();
  const auto stages = static_cast<int64_t>(plan.stages.size());
  if (UpdatesEveryMiniBatch(plan.schedule)) {
    const int64_t widest = WidestStage(plan);
    if (batch == widest) return;
    errors.push_back(
        fmt::format("global_batch: {} mini-batches of {}, but {} updates after every one: want {}, "
                    "one for each replica of the widest stage; pipedream-2bw accumulates gradients",
                    batch, plan.micro_batch, name, widest));
    return;
  }
  const auto pipelines = static_cast<int64_t>(plan.stages[0].replicas.size());
  if (batch % pipelines == 0 && batch / pipelines >= stages) return;
  errors.push_back(
      fmt::format("global_batch: {} micro-batches for {} pipelines with {}, want at least {}, one "
                  "per stage, and the same number in each pipeline",
                  batch, pipelines, name, stages * pipelines));
}

// A pass of a micro-batch is about two tasks of 90 bytes each.
void CheckStretch(const Plan& plan, Errors& errors) {
  constexpr double kMostPasses = 1e8;
  const double pipelines =
      HasSeparatePipelines(plan) ? static_cast<double>(plan.stages[0].replicas.size()) : 1;
  const double passes =
      2.0 * StretchOf(plan).Total() / pipelines * static_cast<double>(plan.stages.size());
  if (passes <= kMostPasses) return;
  errors.push_back(
      fmt::format("order: {} takes {:.3g} passes until its steady state is measured, want at most "
                  "{:.3g}",
                  Name(plan.schedule), passes, kMostPasses));
}

}  // namespace

void FindAsynchronousErrors(const Plan& plan, const Workload& workload, Errors& errors) {
  CheckUses(plan, errors);
  CheckTies(plan, workload, errors);
  CheckFrozen(plan, workload, errors);
  CheckBatches(plan, errors);
  CheckExpertGroups(plan, errors);
  if (errors.empty()) CheckStretch(plan, errors);
}

}  // namespace stagecraft
