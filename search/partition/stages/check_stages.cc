#include "search/partition/stages/check_stages.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

// Returns the bytes of outputs made in front of `stage` that it or a later stage reads.
double BytesInto(const StageProblem& problem, const StagePlan& plan, int stage) {
  if (stage == 0 || stage == plan.stages()) return 0;
  double bytes = 0;
  for (size_t node = 0; node < plan.stage_of.size(); ++node) {
    if (plan.stage_of[node] >= stage) continue;
    const std::vector<int>& consumers = problem.graph.dag.consumers[node];
    const bool crosses = std::any_of(consumers.begin(), consumers.end(), [&](int consumer) {
      return plan.stage_of[consumer] >= stage;
    });
    if (crosses) bytes += static_cast<double>(problem.graph.nodes[node].activation.count());
  }
  return bytes;
}

CheckedStage CheckOne(const StageProblem& problem, const StagePlan& plan, int stage) {
  const StageReplicas& on = plan.replicas[stage];
  const double replicas = on.replicas;
  double compute_s = 0, parameters = 0, activations = 0;
  for (size_t node = 0; node < plan.stage_of.size(); ++node) {
    if (plan.stage_of[node] != stage) continue;
    const TimedNode& timed = problem.graph.nodes[node];
    compute_s += timed.compute().seconds();
    parameters += static_cast<double>(timed.parameters.count());
    activations += static_cast<double>(timed.activation.count());
  }
  const double bandwidth = problem.bandwidth.bytes_per_s();
  const double sync_s = 4 * (replicas - 1) / replicas * parameters / bandwidth;
  const double work_s = (compute_s / problem.kinds[on.kind].speed + sync_s) / replicas;
  // The first stage's own output counts only as the input of the next.
  const double in = BytesInto(problem, plan, stage);
  const double out = stage > 0 ? BytesInto(problem, plan, stage + 1) : 0;
  const double transfer_s = 2 * std::max(in, out) / bandwidth / replicas;
  double devices_from_here = 0;
  for (int s = stage; s < plan.stages(); ++s) devices_from_here += plan.replicas[s].replicas;
  return {std::max(work_s, transfer_s),
          std::ceil(devices_from_here / replicas) * (parameters + activations)};
}

}  // namespace

StageCheck CheckStages(const StageProblem& problem, const StagePlan& plan) {
  StageCheck check;
  check.errors = FindErrors(problem, plan);
  if (!check.errors.empty()) return check;
  for (int stage = 0; stage < plan.stages(); ++stage) {
    check.stages.push_back(CheckOne(problem, plan, stage));
    check.slowest_s = std::max(check.slowest_s, check.stages.back().seconds);
    const double needed = check.stages.back().memory_bytes;
    const auto& memory = problem.kinds[plan.replicas[stage].kind].memory;
    if (!memory || needed <= static_cast<double>(memory->count())) continue;
    check.errors.push_back(
        fmt::format("stage {} needs {:.4g} GB per device, but only {:.4g} GB are available", stage,
                    needed / 1e9, static_cast<double>(memory->count()) / 1e9));
  }
  return check;
}

}  // namespace stagecraft
